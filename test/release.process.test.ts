import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { freshDirectory } from './helpers/academy.ts'
import { type Ended, root, run, type Started, startProcess } from './helpers/process.ts'

const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
const script = join(root, 'packaging/release.ts')

const changelog = `# Changelog

## [Unreleased]

### Added

- A command.

## [1.1.0] - 2026-01-02

- The first version.
`

const executable = `learnctl-${process.platform}-${process.arch}`

/** A project as small as a release allows: its scripts copy files, and its program knows its version. */
const files: Readonly<Record<string, string>> = {
  '.gitignore': 'dist/\nrelease/\n',
  'CHANGELOG.md': changelog,
  'README.md': 'npx learnctl@1.1.0, not 11.1.0 or 1.1.0.2',
  'docs/version.md': '1.1.0\n',
  'packages/package-lock.json': '{ "other": "1.1.0" }\n',
  'package-lock.json': `${JSON.stringify({ name: 'learnctl', version: '1.1.0', packages: { '': { version: '1.1.0' } } }, null, 2)}\n`,
  'package.json': `${JSON.stringify(
    {
      name: 'learnctl',
      version: '1.1.0',
      repository: 'github:school/learnctl',
      engines: { node: '^24.15.0 || >=26' },
      bin: { learnctl: 'program.cjs' },
      files: ['dist', 'program.cjs'],
      scripts: {
        check: 'node -e ""',
        docs: 'node docs.cjs',
        build: 'node build.cjs',
        executable: `cp program.cjs release/${executable} && cp package.json release`,
      },
      devDependencies: { other: '1.1.0' },
    },
    null,
    2,
  )}\n`,
  'docs.cjs': `require('fs').writeFileSync('docs/version.md', require('./package.json').version + '\\n')`,
  'build.cjs': `require('fs').mkdirSync('dist', { recursive: true })
require('fs').writeFileSync('dist/sbom.cdx.json', '{}')`,
  'program.cjs': `#!/usr/bin/env node
console.log(process.argv[2] === '--version' ? require('./package.json').version : 'ok')\n`,
}

const test = base.extend('project', async ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  const cwd = join(path, 'project')
  const env = {
    HOME: path,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'learnctl',
    GIT_AUTHOR_EMAIL: 'learnctl@example.org',
    GIT_COMMITTER_NAME: 'learnctl',
    GIT_COMMITTER_EMAIL: 'learnctl@example.org',
    // Beside it is npm, which starts it; the scripts of the project find it as well.
    PATH: [dirname(process.execPath), process.env['PATH']].join(':'),
  }
  const git = async (...words: readonly string[]) => (await run('git', words, { cwd, env })).stdout.trim()
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  const commit = async (changed: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(changed)) write(name, text)
    await git('add', '--all')
    await git('commit', '--quiet', '--message', 'test: change files')
  }
  mkdirSync(cwd)
  await git('init', '--quiet', '--initial-branch', 'main')
  write('program.cjs', files['program.cjs'] ?? '')
  chmodSync(join(cwd, 'program.cjs'), 0o755)
  await commit(files)
  const start = (...words: readonly string[]): Started =>
    startProcess(process.execPath, [tsx, script, ...words], { cwd, env })
  const release = (...words: readonly string[]): Promise<Ended> => start(...words).ended
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8')
  /** Returns what a release may change: commits, tags, files that git knows, others, and those of the release. */
  const state = async () => ({
    commit: await git('rev-parse', 'HEAD'),
    tags: await git('tag'),
    changes: await git('status', '--porcelain', '--untracked-files=all'),
    hasFiles: existsSync(join(cwd, 'release')),
  })
  return { cwd, git, write, commit, start, release, read, state }
})

describe('a release', () => {
  test('sets the version, makes files, commits and tags, and says what is next', async ({ project }) => {
    const ended = await project.release('minor')
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    expect(ended.stdout).toContain('as release: 1.2.0, and tagged it v1.2.0. Nothing is published yet.')
    expect(ended.stdout).toContain('git push --follow-tags')
    expect(await project.git('log', '-1', '--format=%s', 'v1.2.0')).toBe('release: 1.2.0')
    // Only annotated tags follow a push.
    expect(await project.git('cat-file', '-t', 'v1.2.0')).toBe('tag')
    expect(await project.state()).toMatchObject({ changes: '', tags: 'v1.2.0' })

    expect(project.read('CHANGELOG.md')).toMatch(
      /## \[Unreleased\]\n\n## \[1\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Added\n\n- A command.*\n\n## \[1\.1\.0\] - 2026-01-02\n/,
    )
    expect(project.read('package.json')).toContain('"version": "1.2.0"')
    expect(project.read('package.json')).toContain('"other": "1.1.0"')
    expect(JSON.parse(project.read('package-lock.json'))).toMatchObject({
      version: '1.2.0',
      packages: { '': { version: '1.2.0' } },
    })
    expect(project.read('packages/package-lock.json')).toContain('1.1.0')
    expect(project.read('README.md')).toBe('npx learnctl@1.2.0, not 11.1.0 or 1.1.0.2')
    expect(project.read('docs/version.md')).toBe('1.2.0\n')

    expect(readdirSync(join(project.cwd, 'release')).sort()).toEqual([
      'SHA256SUMS',
      'learnctl-1.2.0.cdx.json',
      'learnctl-1.2.0.tgz',
      executable,
      'notes.md',
      'package.json',
    ])
    const digest = createHash('sha256')
      .update(readFileSync(join(project.cwd, 'release/learnctl-1.2.0.tgz')))
      .digest('hex')
    const sums = project.read('release/SHA256SUMS')
    expect(sums).toContain(`${digest}  learnctl-1.2.0.tgz\n`)
    expect(sums).toContain(`  ${executable}\n`)
    expect(project.read('release/notes.md')).toBe('### Added\n\n- A command.\n')
  })

  test('--dry-run says what a release would do, and writes nothing', async ({ project }) => {
    const before = await project.state()
    const ended = await project.release('minor', '--dry-run')
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toMatch(/^Would release learnctl 1\.2\.0 \(now 1\.1\.0\)\. Nothing is written\.$/m)
    expect(ended.stdout).toMatch(
      /version +package\.json, package-lock\.json, README\.md, docs\/version\.md$/m,
    )
    expect(ended.stdout).toMatch(/1 entries of \[Unreleased\] become \[1\.2\.0\]/)
    expect(await project.state()).toEqual(before)

    const { repository: _, ...manifest } = JSON.parse(project.read('package.json'))
    await project.commit({ 'package.json': `${JSON.stringify(manifest, null, 2)}\n` })
    expect((await project.release('minor', '--dry-run')).stderr).toContain(
      'note: package.json has no "repository"',
    )
  })

  test('--files makes the files of the committed version, as the workflow', async ({ project }) => {
    const before = await project.state()
    expect(await project.release('1.2.0', '--files')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('package.json has version 1.1.0, not 1.2.0'),
    })
    expect(await project.release('1.1.0', '--files', '--no-executable')).toMatchObject({ code: 0 })
    expect(await project.state()).toEqual({ ...before, hasFiles: true })
    expect(project.read('release/notes.md')).toBe('- The first version.\n')
  })
})

describe('a release is refused, and nothing is written', () => {
  test.for([
    ['without a version', [], 2, 'One version is required'],
    ['for a lower version', ['1.0.9'], 2, 'Version 1.0.9 must be higher than 1.1.0'],
    ['for text that is not a version', ['next'], 2, 'Not a version: next'],
  ] as const)('%s', async ([, words, code, message], { project }) => {
    const before = await project.state()
    const ended = await project.release(...words)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toContain(`error: ${message}`)
    expect(ended.stderr).toMatch(/^ {2}hint: \S/m)
    expect(await project.state()).toEqual(before)
  })

  test('with changes, on another branch, with its tag, or without entries', async ({ project }) => {
    const refused = async (message: string) => {
      const before = await project.state()
      const ended = await project.release('minor')
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toContain(`error: ${message}`)
      expect(await project.state()).toEqual(before)
    }
    project.write('new.txt', '')
    await refused('The working tree has changes:\n?? new.txt')
    await project.git('switch', '--quiet', '--create', 'topic')
    await refused('A release is made of main, not of topic')
    await project.git('switch', '--quiet', 'main')
    await project.git('clean', '-fdq')
    await project.git('tag', 'v1.2.0')
    await refused('The tag v1.2.0 already exists')
    await project.git('tag', '--delete', 'v1.2.0')
    await project.commit({ 'CHANGELOG.md': changelog.replace(/- A command.*\n/, '') })
    await refused('CHANGELOG.md has no entries under [Unreleased]')
  })
})

describe('a release that fails leaves the files as they were', () => {
  test.for([
    ['the checks fail', 'check', 'node -e "process.exit(3)"', 'npm run check failed (3)'],
    [
      'a generated file keeps the version',
      'docs',
      'echo 1.1.0 > docs/version.md',
      '1.1.0 still stands in docs/version.md',
    ],
    [
      'the program has another version',
      'build',
      'node build.cjs && echo "#!/bin/sh\necho 1" > program.cjs',
      'printed 1, not 1.2.0',
    ],
    [
      'a script writes a new file',
      'build',
      'node build.cjs && touch new.log',
      'New files would not be part of the release:\nnew.log',
    ],
  ] as const)('%s', async ([, name, command, message], { project }) => {
    const manifest = JSON.parse(project.read('package.json'))
    manifest.scripts[name] = command
    await project.commit({ 'package.json': `${JSON.stringify(manifest, null, 2)}\n` })
    const before = await project.state()
    const ended = await project.release('minor')
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).toMatch(/^ {2}hint: \S/m)
    await project.git('clean', '-fdq')
    expect(await project.state()).toEqual(before)
  })

  test('SIGTERM ends what it runs before', async ({ project }) => {
    const manifest = JSON.parse(project.read('package.json'))
    // A shell that waits for a program, as npm test does; the program writes where the release does.
    manifest.scripts.check = 'node slow.cjs && echo checked'
    await project.commit({
      'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
      'slow.cjs': `const { writeFileSync } = require('fs')
process.on('SIGTERM', () => setImmediate(() => { writeFileSync('README.md', 'half'); writeFileSync('../ended', ''); process.exit() }))
setInterval(() => {}, 1000)
process.stdout.write('running\\n')`,
    })
    const before = await project.state()
    const { printed, ended, kill } = project.start('minor')
    await printed(/^running$/m, 'stderr')
    kill('SIGTERM')
    expect(await ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Interrupted: npm run check'),
    })
    expect(existsSync(join(project.cwd, '../ended'))).toBe(true)
    expect(await project.state()).toEqual(before)
  })

  test('the commit is refused by a hook', async ({ project }) => {
    const before = await project.state()
    project.write('.git/hooks/pre-commit', '#!/bin/sh\necho not today\nexit 1\n')
    chmodSync(join(project.cwd, '.git/hooks/pre-commit'), 0o755)
    const ended = await project.release('minor', '--checked')
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain('not today')
    expect(await project.state()).toEqual(before)
  })
})
