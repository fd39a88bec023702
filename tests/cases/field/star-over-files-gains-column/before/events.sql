CREATE OR REFRESH STREAMING TABLE events AS
SELECT *, _metadata.file_path AS file FROM STREAM read_files('/Volumes/main/raw/events', format => 'json');
