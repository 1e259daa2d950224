; Setup program for Windows, by Inno Setup 6, out of the folder PyInstaller makes:
;   python packaging/build.py
;   iscc packaging/windows/context-inspector.iss
; For one user without asking, or for all with an administrator's consent. Version: version.iss, written by build.py.
#include "..\..\build\package\version.iss"
#define AppName "Context Inspector"
#define ExeName "context-inspector.exe"
#define CliName "context-inspector-cli.exe"

[Setup]
AppId={{7E0B8A52-6C0B-4B5B-9D8A-3A7B3C1E52F4}
AppName={#AppName}
AppVersion={#AppVersion}
AppPublisher=Context Inspector contributors
DefaultDirName={autopf}\Context Inspector
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
; packaging/start.py has it while the program runs: neither setup nor uninstaller can take away what is in use.
AppMutex=ContextInspector
LicenseFile=..\..\LICENSE
SetupIconFile=..\..\build\package\icon.ico
UninstallDisplayIcon={app}\{#ExeName}
WizardStyle=modern
Compression=lzma2/max
SolidCompression=yes
ChangesAssociations=yes
ChangesEnvironment=yes
OutputDir=..\..\dist
OutputBaseFilename=context-inspector-{#AppVersion}-windows-x86_64-setup
; Signed by the compiler, with the uninstaller and the copies of itself that the setup program starts:
;   iscc /DSign "/Ssign=COMMAND $f" packaging/windows/context-inspector.iss
#ifdef Sign
SignTool=sign
SignedUninstaller=yes
#endif

[Tasks]
Name: desktopicon; Description: "A shortcut on the desktop"; Flags: unchecked
Name: path; Description: "The command context-inspector-cli in new terminals"; Flags: unchecked

; What an earlier version had and this one has not would stay beside it, and be imported.
[InstallDelete]
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\build\package\dist\context-inspector\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\{#AppName}"; Filename: "{app}\{#ExeName}"
Name: "{autodesktop}\{#AppName}"; Filename: "{app}\{#ExeName}"; Tasks: desktopicon

[Registry]
; Captures are ours, and nothing else: .json and .jsonl belong to others. Undone from the last to the first, so it is the
; first that takes the key away, once its values are gone.
Root: HKA; Subkey: "Software\Classes\.ctxcap"; ValueType: string; ValueData: "ContextInspector.Capture"; Flags: uninsdeletevalue uninsdeletekeyifempty
Root: HKA; Subkey: "Software\Classes\.ctxcap"; ValueType: string; ValueName: "Content Type"; ValueData: "application/x-context-inspector-capture"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\ContextInspector.Capture"; ValueType: string; ValueData: "Context Inspector capture"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\ContextInspector.Capture\DefaultIcon"; ValueType: string; ValueData: "{app}\{#ExeName},0"
Root: HKA; Subkey: "Software\Classes\ContextInspector.Capture\shell\open\command"; ValueType: string; ValueData: """{app}\{#ExeName}"" ""%1"""
; For all users this is HKLM, whose Path lies elsewhere; the code below takes it out again.
Root: HKA; Subkey: "{code:EnvironmentKey}"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Tasks: path; Check: NeedsPath

[Run]
Filename: "{app}\{#ExeName}"; Description: "Start {#AppName}"; Flags: nowait postinstall skipifsilent

[Code]
function EnvironmentKey(Param: string): string;
begin
  if IsAdminInstallMode then
    Result := 'SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
  else
    Result := 'Environment';
end;

{ Where the folder stands in the path, both between semicolons; 0 when it does not. }
function PlaceOf(Folder, Path: string): Integer;
begin
  Result := Pos(';' + Uppercase(Folder) + ';', ';' + Uppercase(Path) + ';');
end;

function NeedsPath(): Boolean;
var
  Path: string;
begin
  if not RegQueryStringValue(HKA, EnvironmentKey(''), 'Path', Path) then
    Path := '';
  Result := PlaceOf(ExpandConstant('{app}'), Path) = 0;
end;

procedure CurUninstallStepChanged(CurUninstallStep: TUninstallStep);
var
  Folder, Path: string;
  Place: Integer;
begin
  if CurUninstallStep <> usPostUninstall then
    Exit;
  Folder := ExpandConstant('{app}');
  if not RegQueryStringValue(HKA, EnvironmentKey(''), 'Path', Path) then
    Exit;
  Place := PlaceOf(Folder, Path);
  if Place = 0 then
    Exit;
  { The semicolon before it goes with it, or the one after it when it is the first. }
  if Place > 1 then
    Delete(Path, Place - 1, Length(Folder) + 1)
  else
    Delete(Path, 1, Length(Folder) + 1);
  RegWriteExpandStringValue(HKA, EnvironmentKey(''), 'Path', Path);
end;
