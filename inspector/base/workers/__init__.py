"""Worker processes: started on demand, fed with requests over a pipe, ended with their parent."""
