import os
import shutil
import sysconfig

root = sysconfig.get_path("purelib")
for folder, folders, files in os.walk(root, topdown=False):
    for name in files:
        path = os.path.join(folder, name)
        if unneeded(os.path.relpath(path, root).replace(os.sep, "/")):
            os.unlink(path)
    if not os.listdir(folder):
        os.rmdir(folder)
# What installed the packages is not one of them.
for name in os.listdir(root):
    if name.partition("-")[0] in ("pip", "setuptools", "pkg_resources", "_distutils_hack"):
        shutil.rmtree(os.path.join(root, name))
if os.path.exists(os.path.join(root, "distutils-precedence.pth")):
    os.unlink(os.path.join(root, "distutils-precedence.pth"))
