//! The texts of messages without a template.

use super::row::Row;

/// Subjects and titles of messages, and what is said around their values: built-in templates name them.
pub(super) const MAILS: &[Row] = &[
    (
        "[{{ brand }}] Site/Device Alert (ST={{ status }}) - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Störung (ST={{ status }}) - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Alerte (ST={{ status }}) - {{ device_name }} {{ status_text }}",
    ),
    (
        "[{{ brand }}] Site/Device Clear (ST=0) - {{ device_name }} is up again",
        "[{{ brand }}] Entwarnung (ST=0) - {{ device_name }} ist wieder erreichbar",
        "[{{ brand }}] Rétablissement (ST=0) - {{ device_name }} est de nouveau disponible",
    ),
    (
        "[{{ brand }}] No Data - {{ device_name }} gave no result {{ errcount }} times",
        "[{{ brand }}] Keine Daten - {{ device_name }} hatte {{ errcount }}-mal kein Ergebnis",
        "[{{ brand }}] Pas de données - {{ device_name }} n’a donné aucun résultat {{ errcount }} fois",
    ),
    (
        "[{{ brand }}] No Data Clear - {{ device_name }} gives results again",
        "[{{ brand }}] Wieder Daten - {{ device_name }} liefert wieder Ergebnisse",
        "[{{ brand }}] Données de retour - {{ device_name }} donne à nouveau des résultats",
    ),
    (
        "[{{ brand }}] Performance Alert - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Leistungswarnung - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Alerte de performance - {{ device_name }} {{ status_text }}",
    ),
    (
        "[{{ brand }}] Performance Clear - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Leistung wieder normal - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Performance rétablie - {{ device_name }} {{ status_text }}",
    ),
    (
        "[{{ brand }}] Web Change - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Seite geändert - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Page modifiée - {{ device_name }} {{ status_text }}",
    ),
    (
        "[{{ brand }}] Traceroute - {{ device_name }}",
        "[{{ brand }}] Traceroute - {{ device_name }}",
        "[{{ brand }}] Traceroute - {{ device_name }}",
    ),
    (
        "[{{ brand }}] SSL Certificate Expiration - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Ablauf eines SSL-Zertifikats - {{ device_name }} {{ status_text }}",
        "[{{ brand }}] Expiration d’un certificat SSL - {{ device_name }} {{ status_text }}",
    ),
    ("[{{ brand }}] Test Alert", "[{{ brand }}] Testmeldung", "[{{ brand }}] Alerte de test"),
    ("[{{ brand }}] {{ status_text }}", "[{{ brand }}] {{ status_text }}", "[{{ brand }}] {{ status_text }}"),
    ("Site Error", "Störung", "Erreur"),
    ("Site Clear", "Entwarnung", "Rétablissement"),
    ("No Data", "Keine Daten", "Pas de données"),
    ("Performance Error", "Leistungswarnung", "Erreur de performance"),
    ("Performance Clear", "Leistung wieder normal", "Performance rétablie"),
    ("Web Change", "Seite geändert", "Page modifiée"),
    ("Traceroute", "Traceroute", "Traceroute"),
    ("SSL Certificate Expiration", "Ablauf eines SSL-Zertifikats", "Expiration d’un certificat SSL"),
    ("Host Agent Error", "Störung des Host-Agenten", "Erreur de l’agent d’hôte"),
    ("Host Agent Clear", "Entwarnung des Host-Agenten", "Rétablissement de l’agent d’hôte"),
    ("Test", "Test", "Test"),
    ("Digest", "Zusammenfassung", "Récapitulatif"),
    ("No Data Clear", "Wieder Daten", "Données de retour"),
    ("{label}:", "{label}:", "{label} :"),
    ("Time", "Zeit", "Heure"),
    ("HTTP", "HTTP", "HTTP"),
    ("Trace", "Trace", "Trace"),
    ("Failures", "Fehlschläge", "Échecs"),
    ("{{ errcount }} in a row", "{{ errcount }} in Folge", "{{ errcount }} de suite"),
    ("Seen from", "Gesehen von", "Vu depuis"),
    ("Verified", "Nachgeprüft", "Vérifié"),
    ("no result", "kein Ergebnis", "aucun résultat"),
    ("Certificate", "Zertifikat", "Certificat"),
    (
        "issued by {{ certificate.issuer }}",
        "ausgestellt von {{ certificate.issuer }}",
        "émis par {{ certificate.issuer }}",
    ),
    (
        "valid until {{ certificate.not_after }}",
        "gültig bis {{ certificate.not_after }}",
        "valide jusqu’au {{ certificate.not_after }}",
    ),
];
