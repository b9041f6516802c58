//! The service as a whole: open the store, replay, listen, serve, stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::config::ServeConfig;
use crate::engine::{CoreLoop, LoadError, load};
use crate::http::{ServiceState, router};
use crate::store::{HistoryReader, RecordStore, SqliteStore, StoreError};
use crate::tokens::TokenTable;

/// The most connections at once.
const MOST_CONNECTIONS: usize = 4096;

/// The head of a request must arrive within this time.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// Open requests are given this long when the service stops.
const STOP_TIME: Duration = Duration::from_secs(4);

/// Why a service does not start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store cannot be opened, or a commit failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be replayed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A commit failed while the service ran.
    #[error("the store failed: {0}. What was answered is stored; the service has stopped")]
    Commit(StoreError),
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What went wrong.
        error: io::Error,
    },
    /// Beyond this machine without tokens.
    #[error(
        "{address} can be reached from other machines, and there is no token: make one with \
         `calibandit token add --role admin`, or listen at 127.0.0.1"
    )]
    NoToken {
        /// The address.
        address: SocketAddr,
    },
    /// No threads or no runtime.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// What a service found when it started.
#[derive(Clone, Debug)]
pub struct ServeStarted {
    /// The address that it listens at.
    pub address: SocketAddr,
    /// The number of experiments.
    pub experiments: usize,
    /// The number of records that were replayed.
    pub records: u64,
}

/// Serves until the process is told to stop (SIGINT or SIGTERM) or the store fails. `started` is called once it
/// answers requests.
pub fn serve(config: &ServeConfig, started: impl FnOnce(&ServeStarted)) -> Result<(), ServeError> {
    let mut store = SqliteStore::open(&config.data, config.durability)?;
    let table = load(store.log())?;
    let tokens = TokenTable::new(store.log().tokens()?);
    let loopback = config.listen.ip().is_loopback();
    if !loopback && !tokens.has_valid() {
        return Err(ServeError::NoToken { address: config.listen });
    }
    let (experiments, records) = (table.iter().count(), table.records());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind(config.listen));
    let listener = listener.map_err(|error| ServeError::Listen { address: config.listen, error })?;
    let address = listener.local_addr()?;
    let (engine, handle) = CoreLoop::new(table, Box::new(store), config.digest_every);
    let (stop, stopping) = watch::channel(false);
    let state = ServiceState {
        engine: handle.clone(),
        history: HistoryReader::new(&config.data),
        tokens,
        loopback,
        public_read: config.public_read,
        hosts: config.hosts.clone(),
        max_body: config.max_body,
        stopping: stopping.clone(),
    };
    let (ended, mut engine_ended) = watch::channel(false);
    let core = thread::Builder::new().name("core".to_owned()).spawn(move || {
        let result = engine.run();
        ended.send_replace(true);
        result
    })?;
    started(&ServeStarted { address, experiments, records });
    runtime.block_on(async {
        let connections = tokio::spawn(accept(listener, Arc::new(state), stopping));
        tokio::select! {
            () = stop_signal() => {}
            () = until(&mut engine_ended) => {}
        }
        stop.send_replace(true);
        let _ = tokio::time::timeout(STOP_TIME, connections).await;
    });
    handle.stop();
    drop(handle);
    runtime.shutdown_timeout(Duration::from_millis(200));
    match core.join() {
        Ok(result) => result.map_err(ServeError::Commit),
        Err(_) => Err(ServeError::System(io::Error::other("the core loop has panicked; restart the service"))),
    }
}

/// Waits until the value is true, or cannot change any more.
pub(crate) async fn until(value: &mut watch::Receiver<bool>) {
    let _ = value.wait_for(|value| *value).await;
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    match (terminate, interrupt) {
        (Ok(mut terminate), Ok(mut interrupt)) => {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        }
        // Without handlers the signals end the process at once, which is safe too.
        _ => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Accepts connections until the service stops, then waits for the requests that are open.
async fn accept(listener: TcpListener, state: Arc<ServiceState>, stopping: watch::Receiver<bool>) {
    let mut end = stopping.clone();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let service = TowerToHyperService::new(router(state));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            () = until(&mut end) => break,
            _ = connections.join_next(), if !connections.is_empty() => {}
            (accepted, place) = next => match accepted {
                Ok((stream, _)) => {
                    let (service, stopping) = (service.clone(), stopping.clone());
                    connections.spawn(async move {
                        serve_connection(stream, service, stopping).await;
                        drop(place);
                    });
                }
                // For example too many open files: wait for others to close.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve_connection(
    stream: TcpStream,
    service: TowerToHyperService<axum::Router>,
    mut stopping: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // Errors of a connection are those of its caller.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = until(&mut stopping) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
