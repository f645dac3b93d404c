"""What a lake needs so that it stays small and quick to read, however many runs it has seen.

Each run leaves files behind: those of its own rows, and those that it has replaced. For the tables
of this project, `maintain` joins small files, removes what no query can still be reading, and rows
that are older than the project keeps them. Asked for by hand, it also removes files that no table
knows. Readers see the same current rows at every moment.

- `tables`: which tables there are, and what lies in them;
- `snapshots`: what has been replaced, and how long it is kept;
- `retention`: which rows are too old;
- `files`: small files become large ones;
- `orphans`: what runs that were killed have left;
- `maintain`: which of it is done, and when.
"""
