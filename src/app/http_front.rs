//! What listens: the HTTP server, its certificate, and the host token with its addresses.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::host_token::{HostTokenFile, write_host_token};
use super::server::{self, ServerTls};
use super::supervisor::{StatelessTask, Supervisor};
use crate::settings::Settings;
use crate::telemetry::TaskName;

/// What listens, before it is started.
pub(super) struct HttpFront {
    pub(super) listeners: Vec<TcpListener>,
    pub(super) tls: Option<Arc<ServerTls>>,
    /// The token for commands on this host.
    pub(super) host_token: String,
    pub(super) data_dir: PathBuf,
}

impl HttpFront {
    /// Serves `router` until `stop`; returns the addresses, and the tasks.
    pub(super) fn start(
        self,
        router: axum::Router,
        settings: &Settings,
        supervisor: &Supervisor,
        stop: &CancellationToken,
    ) -> anyhow::Result<(Vec<SocketAddr>, Vec<JoinHandle<()>>)> {
        let Self { listeners, tls, host_token, data_dir } = self;
        let addresses = listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
        let certificate_sha256 = tls.as_ref().map(|tls| tls.certificate_sha256());
        let host_token =
            HostTokenFile { token: host_token, addresses: addresses.clone(), certificate_sha256 };
        write_host_token(&data_dir, &host_token)
            .with_context(|| format!("cannot write the host token into `{}`", data_dir.display()))?;
        let service = server::HttpService {
            router,
            tls: tls.clone(),
            response_start_timeout: settings.server.response_start_timeout,
            trusted_proxies: Arc::from(settings.server.trusted_proxies.as_slice()),
        };
        let serving = server::serve(listeners, service, stop.clone());
        let mut handles = vec![supervisor.spawn_essential(supervisor.heartbeat(TaskName::Server), serving)];
        if let Some(tls) = tls {
            let stop = stop.clone();
            let rewrite_token = move |tls: &ServerTls| {
                let host_token = HostTokenFile {
                    certificate_sha256: Some(tls.certificate_sha256()),
                    ..host_token.clone()
                };
                if let Err(error) = write_host_token(&data_dir, &host_token) {
                    tracing::warn!(error = %error, "failed to write the new certificate for commands on this host");
                }
            };
            let watch = move |_| {
                let (tls, stop, rewrite_token) = (Arc::clone(&tls), stop.clone(), rewrite_token.clone());
                async move {
                    if let Err(error) = tls.watch_files(stop, rewrite_token).await {
                        tracing::error!(%error, "failed to watch the server certificate: a renewed one needs a restart");
                    }
                }
            };
            let heartbeat = supervisor.heartbeat(TaskName::CertificateWatch);
            handles.push(supervisor.spawn(StatelessTask::new(heartbeat, watch)));
        }
        Ok((addresses, handles))
    }
}
