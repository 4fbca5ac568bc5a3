//! Files that are whole or not there, whenever a program is killed.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file whole: readers see what was there before, or all of the new. The permissions of a file that is replaced stay.
///
/// # Errors
/// When the folder can't be written to; then the file is as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Hidden, so that a folder's listing never shows a half.
    let mut file = tempfile::Builder::new().prefix(".hindcast-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    if let Ok(metadata) = std::fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        for text in ["one", "another"] {
            write_whole(&path, text.as_bytes()).expect("written");
            assert_eq!(std::fs::read_to_string(&path).expect("read"), text);
        }
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 1);
        assert!(write_whole(&dir.path().join("missing/file"), b"x").is_err());
    }
}
