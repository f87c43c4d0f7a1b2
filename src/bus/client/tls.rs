//! TLS to a `wss://` bus: the system's roots, and the certificates of `ca_file`.
//!
//! ovos-messagebus makes itself a self-signed certificate, for `localhost`, its host name and
//! 127.0.0.1. A certificate of `ca_file` is therefore trusted in two ways: as a root, and as
//! itself. The latter asks neither for a name, since a satellite reaches the bus by an address the
//! certificate does not hold, nor whether it may be a server's, since `openssl req -x509` marks
//! its certificates as authorities and the chain check refuses those (`CaUsedAsEndEntity`). The
//! peer still has to prove that it holds the key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use super::socket::ConnectError;
use crate::bus::wire::Wire;

/// Opens a TLS session on `wire`.
///
/// The certificates are read at each attempt: a bus makes its own when it first starts, perhaps after us.
pub(super) async fn open(
    wire: Wire,
    host: &str,
    address: &str,
    ca_file: Option<PathBuf>,
) -> Result<TlsStream<Wire>, ConnectError> {
    let refuse = |why: String| ConnectError::Tls {
        address: address.to_owned(),
        why,
    };
    let config = tokio::task::spawn_blocking(move || client_config(ca_file.as_deref()))
        .await
        .map_err(|error| refuse(error.to_string()))?
        .map_err(|error| match error {
            ConfigError::CaFile(error) => error,
            ConfigError::Tls(why) => refuse(why),
        })?;
    let name = ServerName::try_from(host.to_owned()).map_err(|error| refuse(error.to_string()))?;
    TlsConnector::from(Arc::new(config))
        .connect(name, wire)
        .await
        .map_err(|error| refuse(with_hint(&error)))
}

enum ConfigError {
    CaFile(ConnectError),
    Tls(String),
}

fn client_config(ca_file: Option<&Path>) -> Result<ClientConfig, ConfigError> {
    let pinned = ca_file
        .map(read)
        .transpose()
        .map_err(ConfigError::CaFile)?
        .unwrap_or_default();
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::debug!(%error, "a system certificate could not be read");
    }
    roots.add_parsable_certificates(system.certs);
    roots.add_parsable_certificates(pinned.iter().cloned());

    let provider = Arc::new(ring::default_provider());
    let chains = match roots.is_empty() {
        true => None,
        false => Some(
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                .build()
                .map_err(|error| ConfigError::Tls(error.to_string()))?,
        ),
    };
    let verifier = Verifier {
        pinned,
        chains,
        provider: provider.clone(),
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let refuse = |why: String| ConnectError::CaFile {
        path: path.to_owned(),
        why,
    };
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| refuse(error.to_string()))?;
    match certificates.is_empty() {
        true => Err(refuse("it holds no PEM certificate".to_owned())),
        false => Ok(certificates),
    }
}

/// Trusts exactly the pinned certificates, and chains to a root.
#[derive(Debug)]
struct Verifier {
    pinned: Vec<CertificateDer<'static>>,
    chains: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        if self.pinned.iter().any(|pinned| pinned == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        match &self.chains {
            Some(chains) => chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The error, and what its reader can do about it.
fn with_hint(error: &std::io::Error) -> String {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
    let hint = match cause {
        Some(TlsError::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "; if the bus signed its certificate itself, name that file in `bus.ca_file` (ovos-messagebus keeps it in \
             $XDG_DATA_HOME/OpenVoiceOS/ovos-messagebus/certs/ovos-messagebus.crt)"
        }
        Some(TlsError::InvalidCertificate(_)) => {
            "; naming the bus's own certificate in `bus.ca_file` trusts exactly that one"
        }
        Some(TlsError::InvalidMessage(_)) => "; does the bus speak TLS at all? Else its URL begins with ws://",
        _ => "",
    };
    format!("{error}{hint}")
}
