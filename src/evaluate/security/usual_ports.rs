//! The ports that a security scan tries.

use crate::domain::Severity;

/// A port with the service that usually listens there.
#[derive(Clone, Copy, Debug)]
pub struct UsualPort {
    /// The port.
    pub number: u16,
    /// The service.
    pub service: &'static str,
    /// How bad it is that the port is open to everyone when nobody expects it.
    pub severity: Severity,
}

/// The 100 ports, in order.
pub static USUAL_PORTS: &[UsualPort] = &[
    usual_port(21, "FTP", Severity::Medium),
    usual_port(22, "SSH", Severity::Low),
    usual_port(23, "Telnet", Severity::High),
    usual_port(25, "SMTP", Severity::Low),
    usual_port(37, "time", Severity::Low),
    usual_port(53, "DNS", Severity::Low),
    usual_port(79, "finger", Severity::Medium),
    usual_port(80, "HTTP", Severity::Low),
    usual_port(81, "HTTP", Severity::Low),
    usual_port(88, "Kerberos", Severity::Medium),
    usual_port(110, "POP3", Severity::Low),
    usual_port(111, "RPC", Severity::High),
    usual_port(113, "ident", Severity::Low),
    usual_port(119, "NNTP", Severity::Low),
    usual_port(135, "MS RPC", Severity::High),
    usual_port(139, "NetBIOS", Severity::High),
    usual_port(143, "IMAP", Severity::Low),
    usual_port(161, "SNMP", Severity::High),
    usual_port(179, "BGP", Severity::Medium),
    usual_port(389, "LDAP", Severity::High),
    usual_port(443, "HTTPS", Severity::Low),
    usual_port(445, "SMB", Severity::High),
    usual_port(465, "SMTP over TLS", Severity::Low),
    usual_port(502, "Modbus", Severity::High),
    usual_port(512, "rexec", Severity::High),
    usual_port(513, "rlogin", Severity::High),
    usual_port(514, "rsh", Severity::High),
    usual_port(515, "LPD", Severity::Medium),
    usual_port(548, "AFP", Severity::Medium),
    usual_port(554, "RTSP", Severity::Medium),
    usual_port(587, "mail submission", Severity::Low),
    usual_port(623, "IPMI", Severity::High),
    usual_port(631, "IPP", Severity::Medium),
    usual_port(636, "LDAP over TLS", Severity::Medium),
    usual_port(873, "rsync", Severity::High),
    usual_port(902, "VMware", Severity::Medium),
    usual_port(990, "FTP over TLS", Severity::Low),
    usual_port(993, "IMAP over TLS", Severity::Low),
    usual_port(995, "POP3 over TLS", Severity::Low),
    usual_port(1080, "SOCKS", Severity::High),
    usual_port(1099, "Java RMI", Severity::High),
    usual_port(1194, "OpenVPN", Severity::Low),
    usual_port(1433, "Microsoft SQL Server", Severity::High),
    usual_port(1521, "Oracle", Severity::High),
    usual_port(1723, "PPTP", Severity::Medium),
    usual_port(1883, "MQTT", Severity::High),
    usual_port(2049, "NFS", Severity::High),
    usual_port(2082, "cPanel", Severity::Medium),
    usual_port(2083, "cPanel over TLS", Severity::Low),
    usual_port(2181, "ZooKeeper", Severity::High),
    usual_port(2222, "SSH", Severity::Low),
    usual_port(2375, "Docker", Severity::High),
    usual_port(2376, "Docker over TLS", Severity::High),
    usual_port(2379, "etcd", Severity::High),
    usual_port(3000, "HTTP for development", Severity::Medium),
    usual_port(3128, "Squid", Severity::Medium),
    usual_port(3268, "Active Directory", Severity::High),
    usual_port(3306, "MySQL", Severity::High),
    usual_port(3389, "RDP", Severity::High),
    usual_port(4369, "Erlang", Severity::High),
    usual_port(4444, "metasploit", Severity::High),
    usual_port(4786, "Cisco Smart Install", Severity::High),
    usual_port(5000, "HTTP for development", Severity::Medium),
    usual_port(5060, "SIP", Severity::Medium),
    usual_port(5222, "XMPP", Severity::Low),
    usual_port(5432, "PostgreSQL", Severity::High),
    usual_port(5555, "Android debug bridge", Severity::High),
    usual_port(5601, "Kibana", Severity::High),
    usual_port(5672, "AMQP", Severity::High),
    usual_port(5800, "VNC over HTTP", Severity::High),
    usual_port(5900, "VNC", Severity::High),
    usual_port(5984, "CouchDB", Severity::High),
    usual_port(5985, "WinRM", Severity::High),
    usual_port(5986, "WinRM over TLS", Severity::High),
    usual_port(6000, "X11", Severity::High),
    usual_port(6379, "Redis", Severity::High),
    usual_port(6443, "Kubernetes", Severity::Medium),
    usual_port(6667, "IRC", Severity::Low),
    usual_port(7001, "WebLogic", Severity::High),
    usual_port(7199, "Cassandra JMX", Severity::High),
    usual_port(8000, "HTTP", Severity::Medium),
    usual_port(8008, "HTTP", Severity::Low),
    usual_port(8080, "HTTP", Severity::Low),
    usual_port(8081, "HTTP", Severity::Low),
    usual_port(8086, "InfluxDB", Severity::High),
    usual_port(8443, "HTTPS", Severity::Low),
    usual_port(8500, "Consul", Severity::High),
    usual_port(8888, "HTTP for development", Severity::Medium),
    usual_port(9000, "HTTP", Severity::Medium),
    usual_port(9042, "Cassandra", Severity::High),
    usual_port(9090, "Prometheus", Severity::Medium),
    usual_port(9092, "Kafka", Severity::High),
    usual_port(9100, "node exporter", Severity::Medium),
    usual_port(9200, "Elasticsearch", Severity::High),
    usual_port(9300, "Elasticsearch", Severity::High),
    usual_port(10000, "Webmin", Severity::High),
    usual_port(10250, "kubelet", Severity::High),
    usual_port(11211, "memcached", Severity::High),
    usual_port(15672, "RabbitMQ", Severity::High),
    usual_port(27017, "MongoDB", Severity::High),
];

const fn usual_port(number: u16, service: &'static str, severity: Severity) -> UsualPort {
    UsualPort { number, service, severity }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_a_hundred_ports_each_once() {
        assert_eq!(USUAL_PORTS.len(), 100);
        assert!(USUAL_PORTS.is_sorted_by(|a, b| a.number < b.number));
    }
}
