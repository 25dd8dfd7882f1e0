import { expect, test } from 'vitest'
import { entriesOf, moveUnreleased, notesOf } from '../../packaging/changelog.ts'

const changelog = `# Changelog

## [Unreleased]

### Added

- A command,
  on two lines; [docs](docs/ci.md#steps) and [a site](https://example.org) describe it.
- Another.

## [1.1.0] - 2026-01-02

- The first version.
`

const release = { version: '1.2.0', date: '2026-03-04', previous: undefined, repository: undefined }
const repository = 'https://github.com/school/learnctl'

test('the entries of Unreleased move under the version', () => {
  const moved = moveUnreleased(changelog, release)
  expect(moved).toBe(changelog.replace('[Unreleased]\n', '[Unreleased]\n\n## [1.2.0] - 2026-03-04\n'))
  expect(entriesOf(changelog, 'Unreleased')).toHaveLength(2)
  expect(entriesOf(moved, 'Unreleased')).toEqual([])
  expect(entriesOf(moved, '1.2.0')).toHaveLength(2)
  expect(entriesOf(moved, '1.1.0')).toEqual(['- The first version.'])
})

test('the first version of a changelog has no section below', () => {
  expect(moveUnreleased('## [Unreleased]\n\n- A command.\n', release)).toBe(
    '## [Unreleased]\n\n## [1.2.0] - 2026-03-04\n\n- A command.\n',
  )
})

test('versions are linked where the repository is known', () => {
  const first = moveUnreleased(changelog, { ...release, repository })
  expect(first).toMatch(
    `\n\n[Unreleased]: ${repository}/compare/v1.2.0...HEAD\n[1.2.0]: ${repository}/releases/tag/v1.2.0\n`,
  )
  expect(notesOf(first, '1.1.0', repository)).toBe('- The first version.\n')
  const written = first.replace('[Unreleased]\n', '[Unreleased]\n\n- More.\n')
  const second = moveUnreleased(written, { ...release, version: '1.3.0', previous: '1.2.0', repository })
  expect(second).toMatch(
    `\n\n[Unreleased]: ${repository}/compare/v1.3.0...HEAD\n[1.3.0]: ${repository}/compare/v1.2.0...v1.3.0\n[1.2.0]: ${repository}/releases`,
  )
})

test('the notes of a release are its section, whose files are those of the version', () => {
  const moved = moveUnreleased(changelog, release)
  expect(notesOf(moved, '1.2.0', undefined)).toContain('[docs](docs/ci.md#steps)')
  const notes = notesOf(moved, '1.2.0', repository)
  expect(notes).toContain(
    `[docs](${repository}/blob/v1.2.0/docs/ci.md#steps) and [a site](https://example.org)`,
  )
  expect(notes).toMatch(/^### Added\n[\s\S]*- Another\.\n$/)
})

test('a section that is missing is an error', () => {
  expect(() => moveUnreleased('# Changelog\n', release)).toThrow('CHANGELOG.md has no section [Unreleased]')
  expect(() => notesOf(changelog, '1.2.0', undefined)).toThrow('CHANGELOG.md has no section [1.2.0]')
  expect(() => notesOf(changelog, '1x1.0', undefined)).toThrow('no section [1x1.0]')
})
