//! The set-ups of servers that are compared.

/// What runs a set-up.
#[derive(Clone, Copy)]
pub enum Server {
    /// nginx, with these directives in its `server` block.
    Nginx(&'static str),
    /// Apache, with these directives in its virtual host.
    Apache(&'static str),
    /// `openssl s_server` with these arguments.
    OpenSsl(&'static str),
    /// rustls with the certificate of ECDSA: TLS 1.2 and 1.3, or one of them.
    Rustls { tls12: bool, tls13: bool },
}

/// One set-up.
#[derive(Clone, Copy)]
pub struct Setup {
    /// Its name, also that of the file with the record.
    pub name: &'static str,
    pub server: Server,
}

const fn nginx(name: &'static str, directives: &'static str) -> Setup {
    Setup { name, server: Server::Nginx(directives) }
}

const fn openssl(name: &'static str, arguments: &'static str) -> Setup {
    Setup { name, server: Server::OpenSsl(arguments) }
}

const RSA: &str = "ssl_certificate rsa.pem; ssl_certificate_key rsa.key;";

/// Puts the RSA certificate before other directives.
macro_rules! with_rsa {
    ($directives:literal) => {
        concat!("ssl_certificate rsa.pem; ssl_certificate_key rsa.key; ", $directives)
    };
}

/// All set-ups.
pub const SETUPS: &[Setup] = &[
    nginx("nginx-default", RSA),
    nginx(
        "nginx-modern",
        with_rsa!(
            "ssl_protocols TLSv1.3; add_header Strict-Transport-Security 'max-age=63072000; includeSubDomains; preload';"
        ),
    ),
    nginx(
        "nginx-intermediate-two-keys",
        with_rsa!(
            "ssl_certificate ecdsa.pem; ssl_certificate_key ecdsa.key; ssl_protocols TLSv1.2 TLSv1.3; \
             ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305; \
             ssl_prefer_server_ciphers off; ssl_session_tickets off;"
        ),
    ),
    nginx(
        "nginx-old",
        with_rsa!(
            "ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; ssl_ciphers ALL:COMPLEMENTOFALL:@SECLEVEL=0; \
             ssl_prefer_server_ciphers on; ssl_dhparam dh1024.pem;"
        ),
    ),
    nginx("nginx-curves", with_rsa!("ssl_protocols TLSv1.2 TLSv1.3; ssl_ecdh_curve secp384r1:X25519;")),
    nginx("nginx-expired", "ssl_certificate expired.pem; ssl_certificate_key expired.key;"),
    nginx("nginx-self-signed", "ssl_certificate self-signed.pem; ssl_certificate_key rsa.key;"),
    nginx("nginx-chain-incomplete", "ssl_certificate rsa-alone.pem; ssl_certificate_key rsa.key;"),
    nginx("nginx-chain-disordered", "ssl_certificate wrong-order.pem; ssl_certificate_key rsa.key;"),
    nginx("nginx-stapling", with_rsa!("ssl_stapling on; ssl_stapling_file ocsp.der;")),
    nginx("nginx-other-name", "ssl_certificate other.pem; ssl_certificate_key other.key;"),
    nginx(
        "nginx-headers",
        with_rsa!(
            "ssl_protocols TLSv1.2; ssl_ciphers AES128-SHA:AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256; \
             add_header Strict-Transport-Security 'max-age=300'; add_header X-Frame-Options DENY; \
             add_header X-Content-Type-Options nosniff; add_header Referrer-Policy no-referrer; \
             add_header Content-Security-Policy \"default-src 'self'\"; add_header Set-Cookie 'a=b; Secure'; \
             add_header Set-Cookie 'c=d; Secure; HttpOnly';"
        ),
    ),
    nginx(
        "nginx-chacha-first",
        with_rsa!(
            "ssl_protocols TLSv1.2; ssl_ciphers ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305; \
             ssl_prefer_server_ciphers on; ssl_conf_command Options PrioritizeChaCha;"
        ),
    ),
    nginx(
        "nginx-dh-1024",
        with_rsa!("ssl_protocols TLSv1.2; ssl_ciphers DHE:@SECLEVEL=0; ssl_dhparam dh1024.pem;"),
    ),
    nginx(
        "nginx-p384",
        "ssl_certificate p384.pem; ssl_certificate_key p384.key; ssl_protocols TLSv1.2 TLSv1.3;",
    ),
    Setup {
        name: "apache",
        server: Server::Apache(
            "SSLCertificateFile rsa.pem\nSSLCertificateKeyFile rsa.key\nSSLProtocol all -SSLv3\nSSLHonorCipherOrder on\n\
             SSLCipherSuite HIGH:!aNULL\n",
        ),
    },
    openssl("openssl-anonymous", "-nocert -tls1_2 -cipher aNULL:@SECLEVEL=0"),
    openssl("openssl-null", "-cert rsa.pem -key rsa.key -tls1_2 -cipher eNULL:@SECLEVEL=0"),
    openssl("openssl-one-suite", "-cert rsa.pem -key rsa.key -tls1_2 -cipher AES128-SHA"),
    openssl("openssl-dh-3072", "-cert rsa.pem -key rsa.key -tls1_2 -cipher DHE -dhparam dh3072.pem"),
    openssl("openssl-tls10", "-cert rsa.pem -key rsa.key -tls1 -cipher DEFAULT:@SECLEVEL=0"),
    openssl("openssl-tls11", "-cert rsa.pem -key rsa.key -tls1_1 -cipher DEFAULT:@SECLEVEL=0"),
    openssl("openssl-no-tls13", "-cert rsa.pem -key rsa.key -no_tls1_3 -serverpref"),
    openssl(
        "openssl-tls13-ccm",
        "-cert rsa.pem -key rsa.key -tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256",
    ),
    openssl("openssl-server-order", "-cert rsa.pem -key rsa.key -serverpref -cipher HIGH"),
    openssl("openssl-ecdsa-tls12", "-cert ecdsa.pem -key ecdsa.key -tls1_2"),
    openssl("openssl-ed25519", "-cert ed25519.pem -key ed25519.key"),
    openssl("openssl-stapling", "-cert rsa.pem -key rsa.key -cert_chain middle.pem -status_file ocsp.der"),
    openssl("openssl-p521-only", "-cert rsa.pem -key rsa.key -groups P-521"),
    openssl("openssl-two-keys", "-cert rsa.pem -key rsa.key -dcert ecdsa.pem -dkey ecdsa.key"),
    Setup { name: "rustls", server: Server::Rustls { tls12: true, tls13: true } },
    Setup { name: "rustls-tls12", server: Server::Rustls { tls12: true, tls13: false } },
    Setup { name: "rustls-tls13", server: Server::Rustls { tls12: false, tls13: true } },
];
