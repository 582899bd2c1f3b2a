"""Profiles of wide tables: every column has its quartiles, within the memory that a job may take."""

import subprocess
import sys
from pathlib import Path

# A process of its own: the engine's connection is the process's, and so is the size of its memory.
SCRIPT = """
import os, sys
sys.path.insert(0, sys.argv[1])
os.chdir(sys.argv[2])
from ba_worker.tables import engine, profile
con = engine.connect()
def data():
    return next(int(line.split()[1]) // 1024 for line in open('/proc/self/status') if line.startswith('VmData'))
picks = ', '.join(f"(i + {n}) / 2.0 AS d{n}, i::BIGINT AS n{n}, (CASE WHEN i = 7 THEN 'inf'::DOUBLE ELSE i END) AS f{n}" for n in range(200))
con.execute(f"COPY (SELECT {picks} FROM range(1001) t(i)) TO 'wide.parquet' (FORMAT parquet)")
before = data()
table = profile.describe(con, 'wide.parquet', 'wide')
columns = {c['name']: c for c in table['columns']}
assert len(columns) == 600 and all('q1' in c and 'median' in c and 'q3' in c and 'std' in c for c in columns.values())
assert (columns['n3']['q1'], columns['n3']['median'], columns['n3']['q3']) == (250, 500, 750)
# An infinity is left to the bounds.
assert columns['f9']['median'] == 500.5 and columns['f9']['max'] == 'inf', columns['f9']
grown = data() - before
assert grown < 500, f'{grown} MB more were asked for'
"""


def test_six_hundred_columns_have_quartiles_in_bounded_memory(tmp_path):
    python = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(python), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
