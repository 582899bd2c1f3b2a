//! Starts, confines, feeds, limits and kills the Python workers. Does not know what the code means.
