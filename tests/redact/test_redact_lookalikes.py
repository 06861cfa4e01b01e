import base64
import hashlib
import uuid

import pytest

from keeplore.redact import redact

_SHA1 = hashlib.sha1(b"a commit").hexdigest()
_SHA256 = hashlib.sha256(b"a file").hexdigest()
_UUID = str(uuid.UUID(_SHA1[:32]))

LOOKALIKES = [
    'password: "Please enter your password"',
    '"password": "At least twelve letters"',
    'autocomplete password: "current-password"',
    "passValue('str\\x00ing')",
    "is_root is derived server-side (LSAQ-141)",
    "the key is derived with HKDF-SHA256",
    "x.hex() if op.is_hashed_by_key else hf_xet.COMPUTE_SHA256",
    "'RPHandler', 'CFHTTPAuthentication', 'MDLAnimatedMatrix4x4', 'MCSession'",
    "'gss_krb5_lucid_key', 'gss_krb5_rfc1964_keydata', 'gss_name'",
    base64.b64encode(
        b"Raymond Luxury Yach-t\0There is %s file\0\1\2 and more"
    ).decode(),
    f"commit {_SHA1}",
    f"sha256:{_SHA256}",
    f"image: app@sha256:{_SHA256}",
    f"request_id: {_UUID}",
    f'{{"sessionId": "{_UUID}", "uuid": "{_UUID}"}}',
    f"session_id={_UUID}",
    f"git checkout {_SHA1[:12]}",
    f'integrity: "sha512-{"Zm9v" * 20}"',
    f"token bucket keyed by {_UUID}",
    "api_key = your-api-key",
    'api_key = "YOUR_API_KEY"',
    "export OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=<your key>",
    "API_KEY=xxxxxxxxxxxxxxxxxxxx",
    "password: ********",
    "password=$DB_PASSWORD",
    "password: ${DB_PASSWORD}",
    'password = os.environ["DB_PASSWORD"]',
    "const token = process.env.GITHUB_TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'password = "{{ vault_db_password }}"',
    "AWS_ACCESS_KEY_ID=" + "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
    "def login(user: str, password: str) -> Token:",
    "password: str",
    "login with password=auth_key1 and try again",
    "password=dbPassword2",
    "password: string;",
    "token = get_token()",
    "token = response.json()['access_token']",
    "self.password = password",
    "password = getpass.getpass()",
    "user = User(username=username, password_hash=hashed_password)",
    "if password != other_password:",
    "max_tokens=4096",
    "max_tokens: 200000",
    "tokenizer = AutoTokenizer.from_pretrained(model)",
    "prompt_tokens: 1200, completion_tokens: 340",
    "secretary: Maria Schmidt",
    "primary_key=True",
    "key = lambda item: item.name",
    "sort(key=operator.itemgetter(1))",
    "cache_key = f'{user_id}:{page}'",
    "PASSWORD_FIELD = 'password'",
    "password_reset_url = '/accounts/reset/confirm'",
    "tokenUrl: 'https://auth.acme.io/oauth/token'",
    "The password is required.",
    "the password is hashed with bcrypt before it is stored",
    "the token is valid for 15 minutes",
    "a password must be at least 12 characters",
    "your secret is safe with me",
    "the key is to keep it simple",
    "--- PASS: TestExtractUserPromptText (0.00s)",
    'status: "pass|fail|skip"',
    "pass `--no-verify` to skip it",
    "you can pass `debug=True` directly",
    "docker run -p 8080:80 nginx",
    "mkdir -p src/components/forms",
    "ssh -p 2222 bob@host",
    "curl -u $USER:$PASS https://api.acme.io",
    "https://user:password@host/path",
    "postgres://localhost:5432/app",
    "http://localhost:4873/@babel/core",
    "redis://cache:6379/0",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "headers = {'Authorization': f'Bearer {token}'}",
    "Cookie: theme=dark; lang=en",
    "| field | type | required |\n|---|---|---|\n| password | string | yes |",
    "| user | password |\n|---|---|\n| bob | ******** |",
    '<input type="password" id="password" name="password" class="form-control">',
    "secretKeyRef:\n  name: db\n  key: password",
    "op://vault/db/password",
    "token: !Ref DbToken",
    "arn:aws:secretsmanager:eu-central-1:123456789012:secret:db",
    "seed the database before you run the tests and then check that every table has rows in it",
    "risk-assessment-and-mitigation-strategies",
    "task-0123456789abcdef",
    "disk-usage-report-for-2026-02-09",
    "plugin/keeplore/redact/rules.py",
    "com.example.application.configuration.SecurityConfiguration",
    "MIIB is how a certificate begins",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "bypass: true",
    "password-protected pages use token-based auth",
    "update your code to use Flask-Argon2 for password hashing",
    'print(f"Hashed password: {new_user.password_hash}")',
    "generate_password_hash(password, method='sha256')",
    "connect pin 12 to GND and pin: 7 to VCC",
    "Utf8 is the default for the password column",
    "keyboard: qwerty, monkey: business",
    "auth: oauth2",
    "v1.2.3-rc.4+build.567",
    "2026-02-09T14:03:11Z",
    "0123456789abcdef0123456789abcdef01234567",
]


def test_there_are_enough_lookalikes() -> None:
    assert len(set(LOOKALIKES)) >= 60


@pytest.mark.parametrize("text", LOOKALIKES, ids=ascii)
def test_a_lookalike_stays(text: str) -> None:
    around = f"we looked at this:\n{text}\nand moved on"
    assert redact(text) == text
    assert redact(around) == around
