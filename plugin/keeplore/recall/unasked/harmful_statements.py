"""Whether a statement tells of a deed by which an agent would do harm, in whatever mood: secrets
sent away, a download run, work of which nobody is asked, words kept from the person.

"Credentials are checked by sending the file …" orders nothing, so its mood tells nothing; where it
leads does. No such list is complete: it is what is looked for in what an assistant concluded, which
may come from a page that it read.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

_NAME = re.compile(r"\{([A-Z]+)\}")
# in small letters without accents; a name in braces stands for the words of that name
_WORDS = {
    "SECRETFILE": r"""
        (?:(?<!\w)\.env\b(?!\.(?:example|sample|template|dist))|\bid_(?:rsa|ed25519|ecdsa)\b
        |\.ssh\b|\.aws\b|\.netrc|\.pypirc|\.npmrc
        |\bservice\ accounts?\b|\.git-credentials|\bkeychain\b|\bprivate(?:n|r
        |s)?\ keys?\b|\bssh[\ -]?(?:keys?|schlussel)\b|\bprivate[nrs]?\ schlussel\b
        |\bcles?\ (?:privees?|ssh)\b|\bclaves?\ privadas?\b|\bchiav[ei]\ privat[ae]\b
        |\bchaves?\ privadas?\b)
    """,
    "SECRET": r"""
        (?:{SECRETFILE}|\b(?:credentials?|secrets?|passwords?|passwd|passphrases?
        |(?:api|aws|cloud|deploy|access)[\ -]?(?:keys?|schlussel)
        |(?:customer|production)\ data\w*|(?:access|auth|session|deploy|bearer)?[\ -]?tokens?
        |cookies|env(?:ironment)?[\ -]?(?:vars?|variables)|zugangsdaten|passwort(?:er)?
        |geheimnisse|umgebungsvariablen|schlussel|identifiants|mots?\ de\ passe|secrets?
        |jetons?|cles?\ api|variables?\ d'environnement|credenciales|contrasenas?
        |variables?\ de\ entorno|credenziali|segreti|senhas?|credenciais|segredos?
        |wachtwoord(?:en)?|inloggegevens|sleutels?)\b)
    """,
    "AWAY": r"""
        \b(?:sends?|sending|sent|posts?|posting|posted|upload\w*|forward(?:s|ed|ing)?
        |transmit\w*|(?:e-?)?mail(?:s|ed|ing)|e-?mail|exfiltrat\w*|submit\w*|deliver(?:s|ed|ing)?
        |(?:ge)?sende(?:t|n)?|gesandt|geschickt|schick\w*|ubermittel\w*|(?:hoch)geladen
        |hochlad\w*|ladt|envoy\w*|envoi\w*|transmet\w*|transmis\w*|televers\w*|envia\w*
        |mandad\w*|manda|sub(?:e|en|ir|iendo|ido|idos)|invi(?:a|ano|are|ando|at[aeio])
        |carica\w*|spedi\w*|enviad\w*|stuur\w*|stuurt|verstu\w*|gestuurd|verzonden
        |opgestuurd)\b
    """,
    "ELSEWHERE": r"""
        (?:https?://(?!localhost|127\.|0\.0\.0\.0|\[::1)|\bwebhooks?\b|\bpaste\ ?bin\b
        |\bgists?\b|[\w.+-]+@[\w-]+\.\w|\b(?:[a-z0-9-]+\.)+(?:example|invalid|test|com|net
        |org|io|dev|xyz|app|cloud|site|co|ru|cn|sh)\b|\bexternal\b|\bthird[\ -]part
        |\bcollector\b|\bextern\w*)
    """,
    "SHELL": r"""
        (?:\b(?:(?:ba|z|da|k|fi)?sh|shells?|powershell|pwsh|iex|interpret\w*)\b)
    """,
    "RUNNER": r"""
        (?:\b(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|perl|ruby|php|iex|pwsh|powershell
        |source|eval)\b)
    """,
    "FETCH": r"""
        (?:\b(?:curl|wget|fetch|iwr|irm|invoke-(?:webrequest|restmethod)|http)\b)
    """,
    "AGENT": r"""
        \b(?:agente?n?s?|assistente?n?s?|assistants?|ai|ki|ia|llms?|claude(?:\ code)?|codex
        |copilot|gemini|cursor|asistente|l'agent|l'ia|bots?)\b
    """,
    "ALONE": r"""
        \b(?:on\ (?:its|their)\ own|of\ its\ own\ accord|by\ itself|by\ themselves
        |unprompted|unasked|autonomously|silently|unattended|proactively
        |nobody\ (?:has|needs)\ to\ \w+
        |without\ (?:\w+\ )?(?:asking|being\ asked|confirm\w*|approv\w*|permission|review
        |consent|prompt\w*|questions?|waiting|a\ (?:question|prompt|review|confirmation))
        |von\ (?:selbst|sich\ aus|allein)|selbst(?:st)?andig|eigenstandig|unaufgefordert
        |ohne\ (?:\w+\ )?(?:ruckfrage|nachfrage|fragen|bestatigung|zustimmung|freigabe|nachzufragen)
        |de\ lui-meme|d'elle-meme|tou(?:t|te)\ seule?|sans\ (?:\w+\ )?(?:demander
        |confirmation|validation|accord|autorisation)|por\ (?:su\ cuenta|si\ (?:solo|mismo
        |sola))|sin\ (?:\w+\ )?(?:preguntar|confirmacion|permiso|aprobacion|pedir)|da\ solo
        |da\ sola|di\ sua\ iniziativa|senza\ (?:\w+\ )?(?:chiedere|conferma|approvazione)
        |sozinho|por\ conta\ propria|sem\ (?:\w+\ )?(?:perguntar|confirmacao|aprovacao)
        |uit\ zichzelf|zelfstandig|zonder\ (?:\w+\ )?(?:te\ vragen|bevestiging
        |toestemming))\b
    """,
    "ACT": r"""
        \b(?:start|run|ran|runn|execut|install|approv|publish|merg|deploy|push|delet|launch|invok
        |bootstrap|download|commit|send|perform|appl|carr|grant|accept|trigger|kick|handl
        |tak|act|fuhr|ausfuhr|ausgefuhrt|installier|lad|sende|lanc|lance|demarr|ejecut
        |inicia|instala|arranca|borra|avvi|esegu|install|execu|uitvoer|voer|start)\w*
    """,
    "RUNNABLE": r"""
        (?:\b(?:scripts?|skripte?n?|installers?|bootstrap(?:per)?|set-?up|commands?|hooks?
        |befehle?|installationsskript\w*|commandes?|comandos?|guion(?:es)?)\b|\.(?:sh|ps1|py
        |bat)\b|`)
    """,
    "PIPED": r"""
        \b(?:pip(?:e|es|ed|ing|t|en)|gepip\w*|geleitet|weitergeleitet|leitet|gereicht
        |ubergeben|(?:feed|feeds|feeding|fed|hand(?:s|ed|ing)|pass(?:es|ed|ing)?|stream(?:s
        |ed|ing)?|redirig\w*|pass[ae]\w*|envoy\w*|canaliz\w*|tuberia|inoltrat\w*
        |convogliat\w*|encaminh\w*|doorgegeven|geleid))\b
    """,
    "PERSON": r"""
        (?:user|person|developer|human|operator|reviewer|maintainer|owner|team|anyone
        |anybody)
    """,
    "GOT": r"""
        (?:\b(?:download|fetch|heruntergeladen|telecharg|descarg|scaric|baixa
        |gedownload)\w*)
    """,
    "RUN": r"""
        (?:\b(?:run|runs|ran|execut\w+|ausgefuhrt|gestartet|ejecut\w*|esegui\w*|uitgevoerd
        |lance\w*)\b)
    """,
    "ROUTINE": r"""
        (?:\b(?:automatic\w*|automatisch|automatiquement|automaticamente|immediately|always
        |first\ thing|before\ (?:anything|everything|every|any)|at\ (?:every|each|session)))
    """,
    "ASSENT": r"""
        (?:\b(?:confirmation|approval|permission|consent|bestatigung|freigabe)s?\b)
    """,
    "BEFORE": r"""
        (?:\b(?:previous|prior|above|earlier|preceding|vorherig\w*|bisherig\w*|fruher\w*
        |precedent\w*|anterior\w*|eerdere)\b)
    """,
    "RULES": r"""
        (?:\b(?:instruction|rule|prompt|guideline|message|anweisung|regel|consigne
        |instruccion|regla|istruzion|regol|instruc|regra)\w*)
    """,
    "GUARD": r"""
        (?:\b(?:certificates?|tls|ssl|signatures?|host\ keys?|firewalls?|sandbox\w*
        |(?:safety|security|permission)\ \w+|two-factor|2fa|mfa|virus\w*|audit\w*)\b)
    """,
    "OFF": r"""
        (?:\b(?:(?:switch|turn)(?:ed|es|s|ing)?\ off|disabl\w+|deactivat\w+|bypass\w*
        |skipp\w+|removed|suspended|lifted|opened|(?:do|does|did)\ not\ apply|no\ longer\ appl\w+
        |abgeschaltet|deaktiviert|ausgeschaltet|desactiv\w+|disattivat\w+|uitgeschakeld)\b)
    """,
    "CONSENTED": r"""
        (?:\b(?:agreed|consented|authori[sz]ed|permitted|zugestimmt|erlaubt|genehmigt
        |accepte|autorise|autorizado|autorizzato|toegestaan)\b)
    """,
    "OPEN": r"""
        (?:\b(?:public|shared|gists?|pastebins?|issues?\ trackers?|wikis?|readme|published
        |channels?|chats?
        |repositor\w+|offentlich\w*|geteilt\w*|publics?|partages?|publico|pubblico)\b)
    """,
    "PUT": r"""
        (?:\b(?:cop(?:y|ies|ied|ying)|stor(?:e|es|ed|ing)|print(?:s|ed|ing)?|past(?:e|es|ed
        |ing)|publish\w*|writ(?:e|es|ten|ing)|wrote|puts?|putting|dump\w*|expos\w+
        |belongs?|listed|part\ of|committed|commits|kopier\w*|schreib\w*|gehor\w*
        |copi\w+|ecri\w+)\b)
    """,
    "DROPPED": r"""
        (?:\b(?:ignor|disregard|forget|overrid|overrul|missacht|vergiss|oubli|olvid|dimentic
        |esque|negeer)\w*)
    """,
}

# what is told, the words that it needs, and how they stand together
_DEEDS = (
    # files of secrets leave the machine
    (("SECRETFILE", "AWAY"), "{SECRETFILE}.{0,60}{AWAY}|{AWAY}.{0,60}{SECRETFILE}"),
    # secrets are sent somewhere
    (
        ("SECRET", "AWAY", "ELSEWHERE"),
        (
            "{SECRET}.{0,80}{AWAY}.{0,80}{ELSEWHERE}|{AWAY}.{0,80}{SECRET}.{0,80}{ELSEWHERE}"
            "|{AWAY}.{0,60}{ELSEWHERE}.{0,80}{SECRET}|{ELSEWHERE}.{0,60}{AWAY}.{0,60}{SECRET}"
            "|{SECRET}.{0,60}{ELSEWHERE}.{0,60}{AWAY}|{ELSEWHERE}.{0,60}{SECRET}.{0,80}{AWAY}"
        ),
    ),
    # they are laid where others read them
    (
        ("SECRET", "PUT", "OPEN"),
        "{SECRET}.{0,60}{PUT}.{0,60}{OPEN}|{PUT}.{0,60}{SECRET}.{0,60}{OPEN}",
    ),
    # what is installed comes from elsewhere
    (
        ("ELSEWHERE",),
        (
            r"\b(?:dependenc\w+|packages?|librar\w+|images?|abhangigkeiten"
            r"|pakete|dependances|paquetes)\b"
            r".{0,40}\b(?:comes?|installed|taken|pulled|resolved|kommen|installiert|viennent)\b"
            r".{0,40}{ELSEWHERE}|\bimages?\b.{0,12}{ELSEWHERE}"
        ),
    ),
    # what is downloaded is run
    (
        ("FETCH", "RUNNER"),
        (
            r"{FETCH}[^|\n]{0,200}\|\s*(?:sudo\s+(?:-\w+\s+)*)?/?(?:\w+/)*{RUNNER}"
            r"|{RUNNER}\s+(?:-\w+\s+)?[<\"'`$(]{1,4}\s*(?:sudo\s+)?{FETCH}"
            r"|\biex\b.{0,60}(?:download|irm|iwr)"
        ),
    ),
    (("PIPED", "SHELL"), "{PIPED}.{0,80}{SHELL}|{SHELL}.{0,40}{PIPED}"),
    (
        ("GOT", "RUN"),
        (
            r"{GOT}.{0,60}(?:https?://|\bremote\b|{RUNNABLE}|\bbinar\w+|\binstall\w*).{0,60}{RUN}"
            r"|(?:https?://|\bremote\b|{RUNNABLE}|\bbinar\w+|\binstall\w*).{0,40}{GOT}.{0,40}{RUN}"
        ),
    ),
    # an agent works of which nobody is asked
    (
        ("AGENT", "ALONE", "ACT"),
        (
            "{AGENT}.{0,60}{ACT}.{0,80}{ALONE}|{AGENT}.{0,60}{ALONE}.{0,60}{ACT}"
            "|{ALONE}.{0,60}{AGENT}.{0,60}{ACT}|{ACT}.{0,80}{AGENT}.{0,40}{ALONE}"
            "|{AGENT}.{0,60}{ALONE}"
        ),
    ),
    (
        ("AGENT", "ROUTINE", "RUNNABLE", "ACT"),
        (
            "{AGENT}.{0,40}{ROUTINE}.{0,40}{ACT}.{0,40}{RUNNABLE}"
            "|{AGENT}.{0,40}{ACT}.{0,60}{RUNNABLE}.{0,60}{ROUTINE}"
            "|{RUNNABLE}.{0,60}{ACT}.{0,40}{AGENT}.{0,60}{ROUTINE}"
        ),
    ),
    (
        ("ASSENT",),
        (
            r"{ASSENT}.{0,20}\b(?:not (?:needed|required|necessary)|unnecessary|skipped|bypassed"
            r"|waived|assumed|implied|pre-?granted|nicht notig|entfallt)\b"
            r"|\bno {ASSENT} (?:is|are)\b"
            r"|(?:{ASSENT}|prompts?|questions?)\b.{0,40}\banswered (?:with )?[\"'`]?y(?:es)?\b"
        ),
    ),
    (
        ("AGENT",),
        r"{AGENT}.{0,20}\b(?:approves?|merges?|reviews?|accepts?)\b.{0,10}\b(?:its|their) own\b",
    ),
    (
        ("PERSON", "CONSENTED"),
        r"\b{PERSON}s?\b.{0,10}\b(?:has|have|had|hat|haben)\b.{0,12}{CONSENTED}",
    ),
    # guards are taken down
    (("GUARD", "OFF"), "{GUARD}.{0,60}{OFF}|{OFF}.{0,40}{GUARD}"),
    (
        (),
        r"\bverify ?= ?false\b|--no-verify\b|--insecure\b|\bnode_tls_reject_unauthorized\W{1,3}0",
    ),
    ((), r"--dangerously-\w+|--yolo\b|\bbypasspermissions\b|--auto-?approve\b"),
    # words are kept from the person
    (
        (),
        (
            r"\bwithout (?:telling|informing|notifying|alerting) (?:the |a |any )?{PERSON}"
            r"|\b(?:kept|concealed|withheld) from the {PERSON}"
            r"|\bout of (?:the|its|every) (?:summar|report|record|log)"
            r"|\b(?:not|never) (?:be |to be )?(?:mentioned|reported|revealed|disclosed) to the "
            r"{PERSON}"
        ),
    ),
    # doors are opened, homes and tables deleted
    (
        (),
        (
            r"\bdrop (?:table|database|schema)\b|authorized_keys|\bnopasswd\b"
            r"|\bstricthostkeychecking\W{1,3}no\b"
            r"|\brm\s+-\w*[rf]\w*\s+(?:-\S+\s+)*[\"']?(?:/|~/?|\$home/?)[\"']?(?:[\s*.;,`]|$)"
        ),
    ),
    # what was said before is set aside, or is to be read elsewhere
    (("DROPPED", "BEFORE", "RULES"), "{DROPPED}.{0,40}{BEFORE}.{0,40}{RULES}"),
    (
        ("BEFORE", "RULES"),
        (
            r"{BEFORE}\s+{RULES}.{0,30}\b(?:no longer (?:apply|hold)"
            r"|are (?:void|obsolete|cancelled|revoked|replaced|superseded))"
        ),
    ),
    (
        (),
        r"\[/?inst\]|<\|?im_(?:start|end)|<<sys>>|</?system(?:-reminder)?>|\#{3,} *system\b",
    ),
    (
        ("RULES",),
        (
            r"{RULES}.{0,40}\b(?:fetched|loaded|downloaded|pulled|obeyed|followed|executed|geladen"
            r"|befolgt)\b.{0,30}https?://"
            r"|\b(?:fetch|load|download|pull|obey|follow)\w*\b.{0,30}{RULES}.{0,30}https?://"
        ),
    ),
)
# the same in scripts whose words stand without blanks, or are not folded to plain letters
_HIDDEN = (
    r"(?:\.env|密钥|密码|凭据|凭证|令牌|密鍵|秘密鍵|パスワード|認証情報|トークン|парол|ключ|токен|уч[её]тн"
    r"|비밀번호|자격 ?증명|토큰|كلم(?:ة|ات) المرور|مفاتيح|पासवर्ड)"
)
_AWAY = (
    r"(?:发送|上传|传到|提交到|送信|アップロード|отправ|загру|высл|переда|전송|업로드"
    r"|보내|إرسال|رفع|भेज)"
)
_AGENT = (
    r"(?:代理|智能体|助手|エージェント|アシスタント|агент|ассистент|에이전트|어시스턴트"
    r"|الوكيل|المساعد|एजेंट)"
)
_ALONE = (
    r"(?:自行|自动|无需|不经|勝手に|自動|確認(?:なし|せず)|\bсам\w*|\bбез|스스로|자동|확인 ?없이"
    r"|تلقائي|دون|बिना|अपने आप)"
)
_IN_OTHER_SCRIPTS = re.compile(
    rf"{_HIDDEN}.{{0,60}}{_AWAY}|{_AWAY}.{{0,60}}{_HIDDEN}|{_AGENT}.{{0,40}}{_ALONE}"
    r"|(?:管道|パイプ|конвейер|перенаправ|파이프).{0,40}(?:shell|bash|シェル|оболоч|셸)",
    re.IGNORECASE,
)


def tells_of_harm(plain: Iterable[str], text: str) -> bool:
    """Does a text tell of such a deed? ``plain`` are readings of it in small letters without
    accents (as they stand, and without disguises), ``text`` the text itself.
    """
    readings = "\n".join(dict.fromkeys(plain))  # no pattern reaches over a line
    is_told = any(pattern.search(readings) for pattern in _possible_patterns(readings))
    return is_told or _IN_OTHER_SCRIPTS.search(text) is not None


def _possible_patterns(readings: str) -> Iterator[re.Pattern[str]]:
    """The patterns whose words all stand in a text."""
    seen: dict[str, bool] = {}
    for needed, pattern in _deeds():
        for name in needed:
            if name not in seen:
                seen[name] = _word(name).search(readings) is not None
        if all(seen[name] for name in needed):
            yield pattern


@functools.cache
def _deeds() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    # compiled when it is first asked for: most commands tell nobody anything
    return tuple((needed, re.compile(_filled_pattern(deed))) for needed, deed in _DEEDS)


@functools.cache
def _word(name: str) -> re.Pattern[str]:
    return re.compile(_filled_pattern(f"{{{name}}}"))


def _filled_pattern(pattern: str) -> str:
    """The pattern with the words that it names in braces."""
    return _NAME.sub(lambda found: f"(?:{_words(found[1])})", pattern)


def _words(name: str) -> str:
    # broken over lines for whoever reads them
    return _filled_pattern(re.sub(r"\s*\n\s*", "", _WORDS[name]).replace("\\ ", " "))
