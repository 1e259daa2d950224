"""Secrets as they stand in real traffic: in headers, addresses, commands, files and what is said."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

SECRET = "Zq7SecretValue9x"
"""Stands in each of them, and in nothing that masking makes of them."""
_HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
LOGIN = base64.b64encode(f"user:{SECRET}".encode()).decode()
"""The same as a Basic header says it."""
_PARAMETERS = f"SignedHeaders=host, Signature={_HEX}{SECRET}"

HEADERS = (
    *(
        f"{header}: {scheme} {SECRET}"
        for header in ("Authorization", "authorization", "AUTHORIZATION", "Proxy-Authorization")
        for scheme in ("Bearer", "BEARER", "Token", "ApiKey", "Api-Key", "DPoP", "Negotiate", "SSWS", "JWT", "Some")
    ),
    f"Authorization: Token {SECRET}".replace(": ", ":"), f"authorization=Basic {SECRET}",
    f"Authorization: AWS4-HMAC-SHA256 Credential=AKID/2015/us-east-1/iam/aws4_request, {_PARAMETERS}",
    f"AWS4-HMAC-SHA256 Credential=AKID/2015/us-east-1/iam/aws4_request, {_PARAMETERS}",
    f'Authorization: Hawk id="x", ts="1", mac="{SECRET}"',
    f'Authorization: OAuth oauth_consumer_key="x", oauth_token="{SECRET}", oauth_signature="tnn"',
    f"('Authorization', 'Token {SECRET}')", f"(b'authorization', b'token {SECRET}')",
    f"['x-api-key', '{SECRET}']", f'["Authorization", "Token {SECRET}"]', f'["host", "h", "X-Api-Key", "{SECRET}"]',
    f"curl -H 'Authorization: Token {SECRET}' https://h", f"curl -H authorization:\\ bearer\\ {SECRET} h",
    f"Bearer: {SECRET}", f"Bearer%20{SECRET}", f'Bearer "{SECRET}"', f"Bearer `{SECRET}`", f"Bearer\n{SECRET}",
    f"Cookie: theme=dark; session={SECRET}", f"Set-Cookie: a=b; Expires=Wed, 21 Oct 2026 07:28:00 GMT; sid={SECRET}",
    f"curl -b 'theme=dark; sid={SECRET}' h", f"Ocp-Apim-Subscription-Key: {SECRET}", f"x-functions-key: {SECRET}",
    f"DD-APPLICATION-KEY: {SECRET}", f"Proxy-Authorization: none Authorization: Token {SECRET}",
)  # fmt: skip
ADDRESSES = (
    *(
        f"https://h/p?a=1&{name}={SECRET}&z=2"
        for name in ("access_token", "X-Amz-Signature", "sig", "pwd", "pass", "jwt", "credential", "auth", "authkey",
                     "api_key", "subscription-key", "SAMLResponse", "hmac", "code_secret", "id_token")
    ),
    f"https://h/p#access_token={SECRET}", f"https://h/p?a=1&amp;sig={SECRET}",
    f"https%3A%2F%2Fh%2Fp%3Faccess_token%3D{SECRET}%26z%3D2", f"https%253A%252F%252Fh%253Ftoken%253D{SECRET}",
    f"grant_type=password&username=me&pwd={SECRET}", f"ws://h/ws?space=x&participant_id=lead&token={SECRET}",
    f"postgres://u:{SECRET}@h/db", f"mongodb+srv://u:{SECRET}@c.example/x", f"redis://:{SECRET}@h", f"amqp://u:{SECRET}@h/v",
    f"jdbc:postgresql://h/db?user=u&password={SECRET}", f"jdbc:sqlserver://h;user=sa;password={SECRET};encrypt=true",
    f"Server=h;Uid=sa;Pwd={SECRET};", f"postgres://u:p@ss{SECRET}@h/db", f"postgres://u:a/b{SECRET}@h/db",
    f"https://{SECRET}:x-oauth-basic@github.com/a", f"https://{SECRET}:@api.example/v1",
    f"https://hooks.slack.com/services/T0000/B0000/{SECRET}", f"https://discord.com/api/webhooks/123456789/{SECRET}",
    f"https://api.telegram.org/bot123456789:AA{SECRET}AAAAAAAAAAAAAAAAA/sendMessage",
    f"eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..48V1_ALb6US04U3b.5eym8TW_c8SuK0lt.{SECRET}",
)  # fmt: skip
COMMANDS = (
    *(
        f"{command} {option} {SECRET}"
        for command in ("run", "npx -y server", "docker login")
        for option in ("--token", "--api-key", "--password", "--client-secret", "--github-token", "-token")
    ),
    f"run --token '{SECRET}'", f'run --api-key "{SECRET}"', f"run --token={SECRET}", f"run --access-token\n{SECRET}",
    f"curl -u me:{SECRET} https://h", f"curl --user 'me:{SECRET}' h", f"curl -ume:{SECRET}".replace("-u", "-u "),
    f"mysql -uroot -p{SECRET} db", f"sshpass -p '{SECRET}' ssh h", f"docker login -u me -p {SECRET}",
    f"redis-cli -a {SECRET}", f"mongosh -u a -p {SECRET}", f"machine h login me password {SECRET}",
    f"ALTER USER x PASSWORD '{SECRET}'", f"CREATE USER x IDENTIFIED BY '{SECRET}'", f"setenv API_KEY {SECRET}",
    f"ENV API_KEY {SECRET}", f"aws configure set aws_secret_access_key {SECRET}", f"export X_TOKEN={SECRET}",
    f'["server", "--api-key", "{SECRET}"]', f"['server', '--token', '{SECRET}']",
    f"npm config set //r.example/:_authToken={SECRET}", f"-e API_KEY={SECRET}",
)  # fmt: skip
FILES = (
    f"space:\n  token: {SECRET}\n", f"lead:\n    tokens:\n      - {SECRET}\n      - '{SECRET}'\n",
    f'tokens: ["{SECRET}"]',
    f'tokens = ["{SECRET}", "{SECRET}"]', f"api_keys:\n  - {SECRET}\n", f'{{"tokens": ["{SECRET}", "{SECRET}"]}}',
    f'{{"tokens": {{"lead": "{SECRET}", "files": "{SECRET}"}}}}', f".mew/tokens/lead.token: {SECRET}",
    f"password: |\n  {SECRET}\n", f"token: >-\n  {SECRET}\n", f'api_key = "{SECRET}"', f"{{'token': b'{SECRET}'}}",
    f"<password>{SECRET}</password>", f"'api_key' => '{SECRET}'", f'<add key="ApiKey" value="{SECRET}"/>',
    f'<input name="password" value="{SECRET}">', f"- name: API_KEY\n  value: {SECRET}\n",
    f'- name: API_KEY\n  value: "{SECRET}"\n', f"PGPASSWORD={SECRET}",
    f"{{ name: 'API_KEY', value: '{SECRET}' }}", f"dbpassword: {SECRET}", f"OPENAI_KEY={SECRET}",
    f'{{"Env": ["API_KEY={SECRET}"]}}', f'{{"cookies": [{{"name": "sid", "value": "{SECRET}"}}]}}',
    f"-----BEGIN RSA {'PRIVATE'} KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n{SECRET}AAAA\ncut",
    f"     1\t-----BEGIN RSA {'PRIVATE'} KEY-----\n     2\t{SECRET}AAAA\n     3\t{SECRET}BBBB",
    f"'-----BEGIN {'PRIVATE'} KEY-----\\n' +\n'{SECRET}AAAA\\n' + '{SECRET}BBBB\\n'",
)  # fmt: skip
SAID = (
    f"the password is {SECRET}", f"my api key is {SECRET}.", f"token -> {SECRET}", f"**Password:** {SECRET}",
    f"**API key**: `{SECRET}`", f"token `{SECRET}`", f"Your password: {SECRET}",
)  # fmt: skip
_OBJECT = json.dumps({"user": "me", "token": SECRET, "z": 1})
_SHORT = json.dumps({"api_key": SECRET}, separators=(",", ":"))
ENCODED = (
    quote(_OBJECT),
    quote_plus(_OBJECT),
    quote(_SHORT),
    quote(quote(_SHORT)),
    quote(_SHORT, safe=":,{}"),
    quote(repr({"password": SECRET})),
    f"GET /x?state={quote(_SHORT)}&b=1 HTTP/1.1",
    quote(json.dumps({"a": _OBJECT})),
    quote(json.dumps({"name": "API_KEY", "value": SECRET})),
    quote(f"postgres://u:{SECRET}@h/db", safe=""),
    quote(f"Authorization: Token {SECRET}"),
    f"token%3D{SECRET}",
    f"a=1&q=password%3A%20{SECRET}",
    html.escape(_OBJECT),
    html.escape(_SHORT).replace("&quot;", "&#34;"),
    html.escape(repr({"token": SECRET})),
    f"&lt;password&gt;{SECRET}&lt;/password&gt;",
    html.escape(html.escape(_OBJECT)),
    html.escape(html.escape(html.escape(_SHORT))).replace("&amp;", "&#38;"),
    html.escape(html.escape(f"<password>{SECRET}</password>")),
    f"<div data-props='{html.escape(_OBJECT)}'></div>",
    quote(html.escape(_SHORT)), quote(quote(html.escape(_SHORT))),
    quote(html.escape(_SHORT).replace("&quot;", "&#34;")),
)  # fmt: skip
FORMS = (
    f'<input type="password" value="{SECRET}">', f'<input value="{SECRET}" name="api_key">',
    f"<INPUT TYPE=password NAME=p VALUE={SECRET}>", f'<input name="csrf_token" type="hidden" value="{SECRET}"/>',
    f'<meta name="csrf-token" content="{SECRET}">', f'<string name="api_key">{SECRET}</string>',
    f'<entry key="password">{SECRET}</entry>', f"<key>password</key>\n<string>{SECRET}</string>",
    f'--B\r\nContent-Disposition: form-data; name="password"\r\n\r\n{SECRET}\r\n--B--\r\n',
    f'--B\r\nContent-Disposition: form-data; name="x[api_key]"\r\nContent-Type: text/plain\r\n\r\n{SECRET}\r\n--B',
    f"--B\nContent-Disposition: form-data; name=token\n\n{SECRET}\n--B--\n",
    f'--B\r\nContent-Disposition: form-data; filename="form-data; name=x"; name="token"\r\n\r\n{SECRET}\r\n--B--\r\n',
    f'--B\r\nContent-Disposition: form-data; name="token"; filename="form-data; name=x"\r\n\r\n{SECRET}\r\n--B--\r\n',
    f'--B\r\nContent-Disposition: form-data; name="secret"\r\n\r\nab12\r\n{SECRET}\r\n{SECRET}\r\n--B--\r\n',
    f'<input type="password" value="<b>{SECRET}">',
    f'<input data-x="a>b" type="password" value={SECRET}>', f'<input type="password" value="a>{SECRET}<b>">',
    f"<input type='password' data-x='a<b>\"' value='{SECRET}'>", f'<input\n\t\ttype="password"\n\t\tvalue="{SECRET}">',
    f"<input type=password value={SECRET} title='type=text value=none'>",
    f'<string name="api_key" translatable="false">{SECRET}</string>',
    f"set --export API_KEY {SECRET}", f"set --global --export TOKEN '{SECRET}'", f"set -x -g TOKEN {SECRET}",
    f"set -xU TOKEN {SECRET}", f"gh secret set API_KEY --repo a/b --body {SECRET}",
    f"gh secret set API_KEY -R a/b --env=prod -b{SECRET}", f'gh secret set --repo a/b API_KEY --body="{SECRET}"',
    f"gh secret set --no-store API_KEY --body {SECRET}",
    f"setx API_KEY {SECRET}", f'setx /M API_KEY "{SECRET}"', f"SETX TOKEN {SECRET} /M", f"set -gx API_KEY {SECRET}",
    f"set -x TOKEN '{SECRET}'", f"gh secret set API_KEY --body {SECRET}", f'gh secret set TOKEN -b"{SECRET}"',
    f"vercel env add API_KEY {SECRET}", f'setenv("TOKEN", "{SECRET}", 1)', f'os.putenv("TOKEN", "{SECRET}")',
    f"[Environment]::SetEnvironmentVariable('API_KEY', '{SECRET}', 'User')", f"define('DB_PASSWORD', '{SECRET}');",
    f'os.environ["API_KEY"] = "{SECRET}"', f"headers['Authorization']='{SECRET}'", f'password = """{SECRET}"""',
    f"| API key | {SECRET} |", f"| **token** | `{SECRET}` |",
)  # fmt: skip
TABLES = (
    f",user,password\n0,me,{SECRET}\n", f"|    | user | password |\n|---:|:--|:--|\n|  0 | me | {SECRET} |\n",
    f"| **user** | **password** |\n|---|---|\n| me | {SECRET} |\n", f"user (id),2fa,password\nme,x,{SECRET}\n",
    f"user,password,\nme,{SECRET},\n", f"1:user,password\n2:me,{SECRET}\n",
    f"user,password,age\nme,{SECRET},12\nyou,{SECRET},13\n", f'"user","token"\r\n"me","{SECRET}"\r\n',
    f"Access key ID,Secret access key\nab,{SECRET}/ab+{SECRET}", f"name;api_key\nme;{SECRET}\n",
    f"token\tuser\n{SECRET}\tme\n", f"| user | password |\n|---|:-:|\n| me | {SECRET} |\n| you | `{SECRET}` |",
    f'user,password,note\nme,"{SECRET}""{SECRET}",x\n', f"user,password\nme,{SECRET}\\{SECRET}\n",
    f"     1\u2192user,password\n     2\u2192me,{SECRET}\n     3\u2192", f"     1\tuser,token\n     2\tme,{SECRET}\n",
    f" id | user | password \n----+------+-----\n  1 | me   | {SECRET}\n(1 row)\n",
    f"+---+---+\n| # | token |\n+---+---+\n| 1 | {SECRET} |\n+---+---+\n",
    f"@@ -0,0 +1,2 @@\n+user,password\n+me,{SECRET}\n", f"+| user | token |\n+|---|---|\n+| me | {SECRET} |\n",
    f"> user;token\n> me;{SECRET}\n", f"\ufeffuser,password\r\nme,{SECRET}\r\n", f"# user,password\nme,{SECRET}\n",
    f"     1\u2192| user | password |\n     2\u2192|---|---|\n     3\u2192| me | {SECRET} |\n",
    f"password: !!str {SECRET}", f'token: &first "{SECRET}"', f"db_password: !vault |\n  {SECRET}\n  {SECRET}\nb: 1",
)  # fmt: skip
TRAFFIC = (*TABLES, *HEADERS, *ADDRESSES, *COMMANDS, *FILES, *SAID, *ENCODED, *FORMS)
