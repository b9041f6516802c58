//! What a service is told when it starts.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What an answer promises about the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// What was answered survives the end of the process and of the machine.
    #[default]
    Full,
    /// What was answered survives the end of the process. The machine may lose the last moments.
    Relaxed,
}

/// What a service is told when it starts.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The address to listen at. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The file of the store. It is created if it does not exist.
    pub data: PathBuf,
    /// What an answer promises.
    pub durability: Durability,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// Whether reading needs no token.
    pub public_read: bool,
    /// Host names besides those of this machine that requests may be addressed to.
    pub hosts: Vec<String>,
    /// The number of records of an experiment after which a digest of its state is stored.
    pub digest_every: u64,
}

impl ServeConfig {
    /// A service at 127.0.0.1:7717 with this file.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7717)),
            data: data.into(),
            durability: Durability::Full,
            max_body: 1 << 20,
            public_read: false,
            hosts: Vec::new(),
            digest_every: 4096,
        }
    }
}
