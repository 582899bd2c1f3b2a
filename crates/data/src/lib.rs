//! Tables: ingest, profiles, SQL over uploads, database connections, the read-only guard, result encoding.
