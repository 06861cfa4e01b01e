"""Words that are no secrets, and words that name one."""

from __future__ import annotations

SECRET_WORDS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "login",
    "hash",
    "jwt",
    "bearer",
    "session",
)

# values that stand for a type, a state or a default: guessable, so hiding them would only hide the
# meaning
_COMMON = """

str string text bytes byte int integer number float bool boolean any object array list dict map null
none nil undefined void optional required true false yes no on off default empty missing unset
invalid valid incorrect wrong correct expired enabled disabled hidden visible plain plaintext
cleartext encrypted hashed salted masked unknown changeme change_me admin root user guest test
testing tester postgres mysql mongo redis rabbitmq minioadmin password passwd pass pwd passphrase
secret secrets token tokens key keys apikey api_key api-key credentials credential auth bearer basic
digest oauth oauth2 jwt cookie session todo tbd fixme n/a na foo bar baz foobar qux lorem ipsum
value values name username email login demo sample example examples dev development prod production
staging local localhost here there below above following same different stored generated random
rotated required reset leaked shared set not sent used needed provided given secretstr securestring
securestr const let var self this inherit read write readonly full repo scope access refresh
id_token access_token refresh_token client_secret letmein welcome abc123 123456 1234567 12345678
123456789 1234567890 qwerty 111111 000000 abcdef
"""
COMMON_VALUES = frozenset(_COMMON.split())

# a value of such words alone stands for a secret in a test or an example
_STAND_IN = """
my the a an is some any test tests testing tester foo bar baz qux user username name new old good
bad right wrong correct valid invalid fake dummy real plain hello spam eggs super very long short
safe
strong weak secure top other another not no pass passwd password passphrase pwd pw pswd secret token
key api access auth client private your sample example value string hash login
"""
STAND_IN_WORDS = frozenset(_STAND_IN.split())

# what forms and programs say of a password: a value with one of these is a text for people
_SAID = """
the is are was be been a an and or of to for in on at by with from as if when then than that this it
your my our you we he she not no cannot can could must should may will has have had does do did too
at least most length long short characters character chars digits letters uppercase lowercase
minimum maximum please enter type choose forgot forgotten confirm confirmation repeat retype again
change changed reset update new old current previous existing show hide hidden visible copy copied
match matches matching mismatch same different strength strong weak medium optional required
mandatory invalid incorrect wrong valid expired field value values string number input name user
username email account admin option optional text plain label hint help button error warning message
database server client system service file path command line variable environment setting config
only never always every all any some none one two first last
"""
MESSAGE_WORDS = frozenset(_SAID.split())
