//! What forms of records say about their fields.

use super::row::Row;

/// By the descriptions of the tables of fields.
pub(super) const HELPS: &[Row] = &[
    (
        "A client certificate with its key (`ssl_cert_id`), or a private authority (`ca_cert_id`)",
        "Ein Client-Zertifikat mit seinem Schlüssel (`ssl_cert_id`) oder eine eigene Zertifizierungsstelle (`ca_cert_id`)",
        "Un certificat client avec sa clé (`ssl_cert_id`), ou une autorité privée (`ca_cert_id`)",
    ),
    (
        "A custom property that monitors can have a value of",
        "Eine eigene Eigenschaft, von der Monitore einen Wert haben können",
        "Une propriété personnalisée dont les moniteurs peuvent avoir une valeur",
    ),
    (
        "A monitoring location and the health of its agents",
        "Ein Standort und der Zustand seiner Agenten",
        "Un emplacement de surveillance et la santé de ses agents",
    ),
    (
        "A period that suppresses a monitor's runs, its alerts or a recipient",
        "Ein Zeitraum, der die Läufe eines Monitors, seine Meldungen oder einen Empfänger unterdrückt",
        "Une période qui supprime les exécutions d’un moniteur, ses alertes ou un destinataire",
    ),
    (
        "A recipient of notifications, and how it is reached",
        "Ein Empfänger von Benachrichtigungen, und wie er erreicht wird",
        "Un destinataire de notifications, et comment il est joint",
    ),
    ("A user", "Ein Benutzer", "Un utilisateur"),
    (
        "Against a fixed time, or against the mean of the last days",
        "Gegen eine feste Zeit oder gegen den Mittelwert der letzten Tage",
        "Par rapport à une durée fixe, ou à la moyenne des derniers jours",
    ),
    (
        "Alert on a monitor's mean check duration, by location",
        "Meldung zur mittleren Prüfdauer eines Monitors, je Standort",
        "Alerte sur la durée moyenne des vérifications d’un moniteur, par emplacement",
    ),
    (
        "Dynamic: over the mean of so many days",
        "Dynamisch: über dem Mittelwert so vieler Tage",
        "Dynamique : au-dessus de la moyenne d’autant de jours",
    ),
    (
        "Minutes that the mean is taken over",
        "Minuten, über die gemittelt wird",
        "Minutes sur lesquelles porte la moyenne",
    ),
    ("Severity", "Schweregrad", "Gravité"),
    (
        "Static: mean seconds; dynamic: percent over the mean of the last days",
        "Fest: mittlere Sekunden; dynamisch: Prozent über dem Mittelwert der letzten Tage",
        "Fixe : secondes en moyenne ; dynamique : pour cent au-dessus de la moyenne des derniers jours",
    ),
    (
        "The time of this step; without it of the whole check",
        "Die Zeit dieses Schritts; ohne Angabe die der ganzen Prüfung",
        "La durée de cette étape ; sans elle, celle de toute la vérification",
    ),
    ("Whether it is evaluated", "Ob sie ausgewertet wird", "Si elle est évaluée"),
    (
        "As in the address of the list, behind the `?`, such as `type=website&sort=name`; empty for all monitors",
        "Wie in der Adresse der Liste hinter dem `?`, etwa `type=website&sort=name`; leer für alle Monitore",
        "Comme dans l’adresse de la liste, après le `?`, par exemple `type=website&sort=name` ; vide pour tous les moniteurs",
    ),
    (
        "At this location only; without it everywhere",
        "Nur an diesem Standort; ohne Angabe überall",
        "À cet emplacement seulement ; sans lui, partout",
    ),
    (
        "Certificates, and for a client its key, as PEM; never shown",
        "Zertifikate, und für einen Client sein Schlüssel, als PEM; nie gezeigt",
        "Certificats, et pour un client sa clé, en PEM ; jamais affichés",
    ),
    ("Day of its end, 1 is Sunday", "Tag seines Endes, 1 ist Sonntag", "Jour de sa fin, 1 est dimanche"),
    (
        "Day of its start, 1 is Sunday",
        "Tag seines Beginns, 1 ist Sonntag",
        "Jour de son début, 1 est dimanche",
    ),
    (
        "Day of the week on which it ends; 1 is Sunday",
        "Wochentag, an dem es endet; 1 ist Sonntag",
        "Jour de la semaine où elle finit ; 1 est dimanche",
    ),
    (
        "Day of the week on which it starts; 1 is Sunday",
        "Wochentag, an dem es beginnt; 1 ist Sonntag",
        "Jour de la semaine où elle commence ; 1 est dimanche",
    ),
    (
        "Display name; unique in the account",
        "Anzeigename; eindeutig im Konto",
        "Nom affiché ; unique dans le compte",
    ),
    (
        "End of a one-time blackout",
        "Ende eines einmaligen Wartungsfensters",
        "Fin d’une fenêtre de maintenance unique",
    ),
    ("End, `hh:mm`", "Ende, `hh:mm`", "Fin, `hh:mm`"),
    (
        "Filters, order, groups and columns of the list of monitors, with a name and an address of their own",
        "Filter, Sortierung, Gruppen und Spalten der Liste der Monitore, mit eigenem Namen und eigener Adresse",
        "Filtres, tri, groupes et colonnes de la liste des moniteurs, avec un nom et une adresse propres",
    ),
    (
        "For everybody of the account; otherwise only for who made it",
        "Für alle des Kontos; sonst nur für den, der sie angelegt hat",
        "Pour tous ceux du compte ; sinon seulement pour qui l’a créée",
    ),
    (
        "For monitors that no group names",
        "Für Monitore, die keine Gruppe nennt",
        "Pour les moniteurs qu’aucun groupe ne nomme",
    ),
    (
        "For this account alone; those of accounts other than 1 always are",
        "Nur für dieses Konto; die anderer Konten als 1 sind es immer",
        "Pour ce compte seul ; ceux des comptes autres que 1 le sont toujours",
    ),
    (
        "Goal: mean seconds of a check",
        "Ziel: mittlere Sekunden einer Prüfung",
        "Objectif : secondes moyennes d’une vérification",
    ),
    (
        "Goal: percent of checks that pass",
        "Ziel: Prozent erfolgreicher Prüfungen",
        "Objectif : pourcentage de vérifications réussies",
    ),
    (
        "Goal: percent of intervals in which any location passes",
        "Ziel: Prozent der Intervalle, in denen ein Standort erfolgreich ist",
        "Objectif : pourcentage d’intervalles où un emplacement réussit",
    ),
    ("How it is reached", "Wie er erreicht wird", "Comment il est joint"),
    (
        "How they are sent; without it, any way",
        "Wie sie gesendet werden; ohne Angabe auf jede Art",
        "Comment ils sont envoyés ; sans lui, de toute façon",
    ),
    (
        "Id; without it the number of the same text, or a new one",
        "Id; ohne Angabe die Nummer desselben Textes oder eine neue",
        "Id ; sans lui le numéro du même texte, ou un nouveau",
    ),
    (
        "It verifies failures of monitors that do not run there too",
        "Er prüft auch Fehlschläge von Monitoren nach, die dort nicht laufen",
        "Il contre-vérifie aussi les échecs de moniteurs qui n’y sont pas exécutés",
    ),
    ("Its end", "Sein Ende", "Sa fin"),
    ("Its end, `hh:mm`", "Sein Ende, `hh:mm`", "Sa fin, `hh:mm`"),
    ("A host that reports metrics", "Ein Host, der Messwerte meldet", "Un hôte qui rapporte des mesures"),
    (
        "Name or address that is pinged when it is silent; without one it is not pinged",
        "Name oder Adresse, die angepingt wird, wenn er schweigt; ohne sie wird nicht gepingt",
        "Nom ou adresse qui reçoit un ping quand il se tait ; sans cela, pas de ping",
    ),
    (
        "Seconds between two reports of its agent",
        "Sekunden zwischen zwei Berichten seines Agenten",
        "Secondes entre deux rapports de son agent",
    ),
    (
        "Page of its node_exporter, for monitors with `report` scrape",
        "Seite seines node_exporter, für Monitore mit `report` scrape",
        "Page de son node_exporter, pour les moniteurs avec `report` scrape",
    ),
    ("Its name; unique in the account", "Sein Name; eindeutig im Konto", "Son nom ; unique dans le compte"),
    ("Its recipients", "Ihre Empfänger", "Ses destinataires"),
    ("Its start", "Sein Beginn", "Son début"),
    ("Its start, `hh:mm`", "Sein Beginn, `hh:mm`", "Son début, `hh:mm`"),
    ("Its status code", "Sein Statuscode", "Son code de statut"),
    ("Its text", "Sein Text", "Son texte"),
    (
        "Its values; those that a monitor has cannot be removed",
        "Ihre Werte; die ein Monitor hat, lassen sich nicht entfernen",
        "Ses valeurs ; celles qu’a un moniteur ne peuvent pas être supprimées",
    ),
    (
        "Language of messages without a template; without it that of the account",
        "Sprache von Nachrichten ohne Vorlage; ohne Angabe die des Kontos",
        "Langue des messages sans modèle ; sans elle celle du compte",
    ),
    (
        "Locked by an admin; like not enabled, but distinct in the legacy API",
        "Von einem Admin gesperrt; wie nicht aktiviert, aber in der alten API unterscheidbar",
        "Verrouillé par un admin ; comme non activé, mais distinct dans l’ancienne API",
    ),
    (
        "Login of the target, or community of SNMP",
        "Anmeldename des Ziels, oder Community von SNMP",
        "Identifiant de la cible, ou communauté SNMP",
    ),
    (
        "Mail address, URL, host:port or telephone number, depending on its method",
        "Mailadresse, URL, Host:Port oder Telefonnummer, je nach Methode",
        "Adresse e-mail, URL, hôte:port ou numéro de téléphone, selon sa méthode",
    ),
    ("Monitors that it covers", "Monitore, für die sie gilt", "Moniteurs qu’il couvre"),
    (
        "Most errors of one outage that it is notified of; 0 for no limit",
        "Höchstzahl der Fehler eines Ausfalls, die ihm gemeldet werden; 0 für keine Grenze",
        "Nombre maximal d’erreurs d’une panne dont il est prévenu ; 0 pour aucune limite",
    ),
    (
        "Never shown; a new one ends all tokens and sessions",
        "Nie gezeigt; ein neues beendet alle Tokens und Sitzungen",
        "Jamais affiché ; un nouveau met fin à tous les jetons et sessions",
    ),
    (
        "Number of the consecutive failing run from which it is notified",
        "Nummer des aufeinanderfolgenden fehlgeschlagenen Laufs, ab dem er benachrichtigt wird",
        "Rang de l’exécution consécutive en échec à partir de laquelle il est prévenu",
    ),
    (
        "Only errors of this content view of it; without it all of it",
        "Nur Fehler dieser Inhaltsansicht; ohne Angabe alle",
        "Seulement les erreurs de cette vue de contenu ; sans elle toutes",
    ),
    (
        "Only these errors; empty for all",
        "Nur diese Fehler; leer für alle",
        "Seulement ces erreurs ; vide pour toutes",
    ),
    (
        "Only to change one's own password: the one until now; not kept",
        "Nur zum Ändern des eigenen Passworts: das bisherige; wird nicht aufbewahrt",
        "Seulement pour changer son propre mot de passe : l’actuel ; non conservé",
    ),
    (
        "Opens the PKCS#12; not kept",
        "Öffnet das PKCS#12; wird nicht aufbewahrt",
        "Ouvre le PKCS#12 ; non conservé",
    ),
    (
        "Password, token or routing key of the target",
        "Passwort, Token oder Routing-Schlüssel des Ziels",
        "Mot de passe, jeton ou clé de routage de la cible",
    ),
    (
        "Start of a one-time blackout",
        "Beginn eines einmaligen Wartungsfensters",
        "Début d’une fenêtre de maintenance unique",
    ),
    ("Start, `hh:mm`", "Beginn, `hh:mm`", "Début, `hh:mm`"),
    (
        "Template for notifications of one kind and method; groups refer to it",
        "Vorlage für Benachrichtigungen einer Art und Methode; Gruppen verweisen darauf",
        "Modèle pour les notifications d’un genre et d’une méthode ; les groupes s’y réfèrent",
    ),
    (
        "Templates that replace the defaults",
        "Vorlagen, die die Vorgaben ersetzen",
        "Modèles qui remplacent ceux par défaut",
    ),
    (
        "Text, or for JSON POST the whole JSON body; empty for the built-in one",
        "Text, oder für JSON POST der ganze JSON-Inhalt; leer für den eingebauten",
        "Texte, ou pour JSON POST tout le corps JSON ; vide pour celui intégré",
    ),
    ("The monitor", "Der Monitor", "Le moniteur"),
    ("The monitor or recipient", "Der Monitor oder Empfänger", "Le moniteur ou le destinataire"),
    (
        "The monitor; each has one at most",
        "Der Monitor; jeder hat höchstens eine",
        "Le moniteur ; chacun en a au plus un",
    ),
    (
        "The period is excluded; otherwise only such periods count",
        "Der Zeitraum ist ausgeschlossen; sonst zählen nur solche Zeiträume",
        "La période est exclue ; sinon seules ces périodes comptent",
    ),
    ("The recipient", "Der Empfänger", "Le destinataire"),
    (
        "The same as HTML, for mail; empty is the built-in one",
        "Dasselbe als HTML, für Mail; leer ist der eingebaute",
        "La même chose en HTML, pour le courrier ; vide pour celui intégré",
    ),
    (
        "The same as PKCS#12; never shown",
        "Dasselbe als PKCS#12; nie gezeigt",
        "La même chose en PKCS#12 ; jamais affichée",
    ),
    ("The template", "Die Vorlage", "Le modèle"),
    ("Times that do not count", "Zeiten, die nicht zählen", "Temps qui ne comptent pas"),
    (
        "Title or subject; empty is the built-in one",
        "Titel oder Betreff; leer ist der eingebaute",
        "Titre ou sujet ; vide pour celui intégré",
    ),
    ("What it is for", "Wofür es ist", "À quoi cela sert"),
    ("What it says", "Was es besagt", "Ce que cela dit"),
    ("What it suppresses", "Was es unterdrückt", "Ce qu’elle supprime"),
    (
        "What people call it; unique in the account",
        "Wie man es nennt; eindeutig im Konto",
        "Comment on l’appelle ; unique dans le compte",
    ),
    ("What people call the user", "Wie man den Benutzer nennt", "Comment on appelle l’utilisateur"),
    (
        "What the messages are about; without it, anything",
        "Wovon die Nachrichten handeln; ohne Angabe von allem",
        "De quoi parlent les messages ; sans lui, de tout",
    ),
    (
        "What the user logs in as; unique over all accounts",
        "Womit sich der Benutzer anmeldet; eindeutig über alle Konten",
        "Ce avec quoi l’utilisateur se connecte ; unique dans tous les comptes",
    ),
    ("What the user may do", "Was der Benutzer darf", "Ce que l’utilisateur peut faire"),
    (
        "What was agreed for a monitor",
        "Was für einen Monitor vereinbart wurde",
        "Ce qui a été convenu pour un moniteur",
    ),
    ("When it holds; empty is always", "Wann es gilt; leer ist immer", "Quand il vaut ; vide pour toujours"),
    (
        "Whether it gets errors and related notifications",
        "Ob er Fehler und zugehörige Benachrichtigungen erhält",
        "S’il reçoit les erreurs et les notifications liées",
    ),
    (
        "Whether it gets performance alerts",
        "Ob er Leistungsmeldungen erhält",
        "S’il reçoit les alertes de performance",
    ),
    (
        "Whether it gets the clear of an error that it was notified of",
        "Ob er die Entwarnung eines Fehlers erhält, der ihm gemeldet wurde",
        "S’il reçoit le rétablissement d’une erreur dont il a été prévenu",
    ),
    ("Whether it recurs each week", "Ob es jede Woche wiederkehrt", "Si elle revient chaque semaine"),
    (
        "Whether screenshots are attached to mail",
        "Ob Bildschirmfotos an Mails angehängt werden",
        "Si les captures d’écran sont jointes aux e-mails",
    ),
    (
        "Whether the response of the target is attached to mail",
        "Ob die Antwort des Ziels an Mails angehängt wird",
        "Si la réponse de la cible est jointe aux e-mails",
    ),
    (
        "Whether the user may log in",
        "Ob sich der Benutzer anmelden darf",
        "Si l’utilisateur peut se connecter",
    ),
    (
        "Which recipients get which monitors, steps and errors; without any group every recipient gets every alert",
        "Welche Empfänger welche Monitore, Schritte und Fehler erhalten; ohne jede Gruppe erhält jeder Empfänger jede Meldung",
        "Quels destinataires reçoivent quels moniteurs, étapes et erreurs ; sans aucun groupe chaque destinataire reçoit chaque alerte",
    ),
    (
        "Why; not for notifiers",
        "Warum; nicht für Benachrichtigungen",
        "Pourquoi ; pas pour les notifications",
    ),
    (
        "`response_time` counts the full page with its objects, where a run loaded one",
        "`response_time` zählt die ganze Seite mit ihren Objekten, wo ein Lauf eine geladen hat",
        "`response_time` compte la page complète avec ses objets, quand une exécution en a chargé une",
    ),
    (
        "Days before the end of a certificate at which warnings begin; without it the server's setting",
        "Tage vor dem Ende eines Zertifikats, an denen Warnungen beginnen; ohne Angabe die Einstellung des Servers",
        "Jours avant la fin d’un certificat auxquels commencent les avertissements ; sans valeur, le réglage du serveur",
    ),
    (
        "Language of messages without a template",
        "Sprache von Nachrichten ohne Vorlage",
        "Langue des messages sans modèle",
    ),
    (
        "Locations of monitors without their own, the home location first; empty: that of the server",
        "Standorte von Monitoren ohne eigene, der Heimatstandort zuerst; leer: der des Servers",
        "Emplacements des moniteurs qui n’en ont pas, celui d’attache d’abord ; vide : celui du serveur",
    ),
    (
        "Locations that have to fail before a monitor of mode SLA (MultiPOP) alerts",
        "Standorte, an denen ein Monitor im Modus SLA (MultiPOP) fehlschlagen muss, bevor er meldet",
        "Emplacements qui doivent échouer avant qu’un moniteur en mode SLA (MultiPOP) n’alerte",
    ),
    ("Name at the start of alerts", "Name am Anfang von Meldungen", "Nom au début des alertes"),
    ("The account of the caller", "Das eigene Konto", "Votre compte"),
    (
        "Zone of window times, such as `Europe/Paris`",
        "Zone von Zeitfenstern, etwa `Europe/Paris`",
        "Fuseau des plages horaires, par exemple `Europe/Paris`",
    ),
];
