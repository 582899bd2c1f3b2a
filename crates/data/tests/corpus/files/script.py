import os

def load(x):
    return x

class Model:
    def fit(self): pass
