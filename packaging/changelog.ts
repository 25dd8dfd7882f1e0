// CHANGELOG.md, in the form of https://keepachangelog.com/en/1.1.0/: one section a version, the newest first, and [Unreleased] above.

/** A section of the changelog: its lines below the heading, without blank ones at its ends. */
interface Section {
  readonly body: string
  /** Positions of the heading and of the first character behind the section. */
  readonly start: number
  readonly end: number
}

/** Returns the section of a version or of `Unreleased`; undefined if the changelog has none. */
function findSection(changelog: string, name: string): Section | undefined {
  const heading = new RegExp(`^## \\[${name.replaceAll('.', '\\.')}\\].*\\n`, 'm').exec(changelog)
  if (!heading) return undefined
  const start = heading.index
  const from = start + heading[0].length
  // The next section, or the definitions of links at the end of the file.
  const length = changelog.slice(from).search(/^(## |\[[^\]]+\]: )/m)
  const end = length === -1 ? changelog.length : from + length
  return { body: changelog.slice(from, end).trim(), start, end }
}

/** Returns the entries of a section, such as `- A new command`; none for a section that is missing. */
export function entriesOf(changelog: string, name: string): readonly string[] {
  return findSection(changelog, name)?.body.match(/^- .+/gm) ?? []
}

/** A version to release, and how its links start. */
export interface Release {
  readonly version: string
  /** Day of the release, as 2026-11-23. */
  readonly date: string
  /** Version that was released before, with a tag; undefined if none has one. */
  readonly previous: string | undefined
  /** Address of the repository on the web, without a slash at the end; undefined if package.json has none. */
  readonly repository: string | undefined
}

/** Returns the changelog with the entries of `Unreleased` under the version, and with links that compare versions. */
export function moveUnreleased(changelog: string, release: Release): string {
  const { version, date, repository } = release
  const found = findSection(changelog, 'Unreleased')
  if (!found) throw new Error('CHANGELOG.md has no section [Unreleased]')
  const sections = `## [Unreleased]\n\n## [${version}] - ${date}\n\n${found.body}\n`
  const rest = changelog.slice(found.end)
  const moved = `${changelog.slice(0, found.start)}${sections}${rest === '' ? '' : `\n${rest}`}`
  return repository === undefined ? moved : withLinks(moved, release, repository)
}

function withLinks(changelog: string, { version, previous }: Release, repository: string): string {
  const link = previous === undefined ? `releases/tag/v${version}` : `compare/v${previous}...v${version}`
  const lines = `[Unreleased]: ${repository}/compare/v${version}...HEAD\n[${version}]: ${repository}/${link}\n`
  const unreleased = /^\[Unreleased\]: .*\n/m
  return unreleased.test(changelog)
    ? changelog.replace(unreleased, () => lines)
    : `${changelog.trimEnd()}\n\n${lines}`
}

/** Returns the notes of a release: its section, whose links to files lead to the repository at that version. */
export function notesOf(changelog: string, version: string, repository: string | undefined): string {
  const found = findSection(changelog, version)
  if (!found) throw new Error(`CHANGELOG.md has no section [${version}]`)
  if (repository === undefined) return `${found.body}\n`
  const linked = found.body.replace(/\]\((?![a-z]+:|#|\/)/g, () => `](${repository}/blob/v${version}/`)
  return `${linked}\n`
}
