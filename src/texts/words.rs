//! Words that the pages show of values: states, kinds, phases. The API keeps them in English.

use super::row::Row;

/// Words, by what the API calls them.
pub(super) const WORDS: &[Row] = &[
    ("ok", "ok", "ok"),
    ("warning", "Warnung", "avertissement"),
    ("error", "Fehler", "erreur"),
    ("unknown", "unbekannt", "inconnu"),
    ("missed", "ausgelassen", "manqué"),
    ("blackout", "Wartungsfenster", "fenêtre de maintenance"),
    ("waiting", "wartet", "en attente"),
    ("paused", "pausiert", "en pause"),
    ("disabled", "deaktiviert", "désactivé"),
    ("up", "erreichbar", "disponible"),
    ("failing", "schlägt fehl", "en échec"),
    ("down", "ausgefallen", "en panne"),
    ("blacked out", "im Wartungsfenster", "en maintenance"),
    ("banner", "Begrüßung", "bannière"),
    ("connect", "Verbindung", "connexion"),
    ("dns", "DNS", "DNS"),
    ("first byte", "erstes Byte", "premier octet"),
    ("queue", "Warteschlange", "file d’attente"),
    ("tls", "TLS", "TLS"),
    ("transfer", "Übertragung", "transfert"),
    ("proxy", "Proxy", "proxy"),
];
