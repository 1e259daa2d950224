# Signs the files named with the certificate in WINDOWS_CERTIFICATE (a .pfx in base64), and stamps the time.
param([Parameter(Mandatory, ValueFromRemainingArguments)][string[]]$Paths)
$ErrorActionPreference = "Stop"
$certificate = Join-Path $env:RUNNER_TEMP "certificate.pfx"
[IO.File]::WriteAllBytes($certificate, [Convert]::FromBase64String($env:WINDOWS_CERTIFICATE))
try {
    $tool = Get-ChildItem "${env:ProgramFiles(x86)}\Windows Kits\10\bin\*\x64\signtool.exe" | Sort-Object FullName | Select-Object -Last 1
    foreach ($file in Get-ChildItem $Paths) {
        & $tool.FullName sign /f $certificate /p $env:WINDOWS_CERTIFICATE_PASSWORD /fd sha256 /td sha256 /tr http://timestamp.digicert.com $file.FullName
        if ($LASTEXITCODE) { throw "signtool could not sign $file" }
    }
} finally {
    Remove-Item $certificate
}
