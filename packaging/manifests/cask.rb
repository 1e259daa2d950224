# Homebrew cask, out of the disk images; manifests.py fills in version, address and checksums.
cask "context-inspector" do
  arch arm: "arm64", intel: "x86_64"

  version "@VERSION@"
  sha256 arm:   "@DMG_ARM64_SHA256@",
         intel: "@DMG_X86_64_SHA256@"

  url "@CASK_URL@/context-inspector-#{version}-macos-#{arch}.dmg"
  name "Context Inspector"
  desc "Desktop inspector for multi-agent workspaces"
  homepage "@HOMEPAGE@"

  depends_on macos: :ventura

  app "Context Inspector.app"
  binary "#{appdir}/Context Inspector.app/Contents/MacOS/context-inspector"

  zap trash: [
    "~/Library/Application Support/context-inspector",
    "~/Library/Caches/context-inspector",
    "~/Library/Logs/context-inspector",
  ]
end
