import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { entriesOf, moveUnreleased } from './changelog.ts'
import {
  buildsExecutable,
  filesOf,
  folder,
  type Manifest,
  makeFiles,
  patternOf,
  printFiles,
  webAddress,
} from './release-files.ts'
import { git, interrupted, Refusal, run, say } from './run.ts'

// Makes a release of a clean main, up to the point where credentials are needed: `npm run release -- minor`.
// CONTRIBUTING.md says what follows. A release that fails leaves the working tree as it was.

const usage = `Usage: npm run release -- <version|patch|minor|major> [flags]

  --checked        .ci/run has passed on this commit: skip npm run check
  --no-executable  Do not build the executable of this machine
  --files          Only make the files of the version that package.json has, as the workflow does
  --dry-run        Print what a release would do
`

interface Options {
  readonly isChecked: boolean
  readonly hasExecutable: boolean
}

/** A release that can be made: every check of the working tree has passed. */
interface Plan extends Options {
  readonly manifest: Manifest
  readonly version: string
  readonly tag: string
  /** Commit that the release is made from. */
  readonly head: string
  readonly date: string
  readonly previous: string | undefined
  readonly repository: string | undefined
  /** Files that name the version, other than package.json, the lock file and the changelog. */
  readonly places: readonly string[]
}

/** Files that a version is replaced in by other means, or whose versions are of something else. */
const elsewhere = ['CHANGELOG.md', 'package.json', '*package-lock.json', 'test']

try {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => interrupted.abort())
  }
  await main()
} catch (error) {
  const { message, hint, exitCode } =
    error instanceof Refusal ? error : { message: String(error), hint: undefined, exitCode: 1 }
  process.stderr.write(`error: ${message}\n${hint === undefined ? '' : `  hint: ${hint}\n`}`)
  process.exitCode = exitCode
}

async function main(): Promise<void> {
  const { values, positionals } = readFlags()
  const [wanted] = positionals
  if (values.help) return void process.stdout.write(usage)
  if (wanted === undefined || positionals.length > 1) {
    throw new Refusal('One version is required', 'npm run release -- minor', 2)
  }
  const options = { isChecked: values.checked, hasExecutable: !values['no-executable'] }
  const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  if (values.files) return await remakeFiles(manifest, wanted, options)
  const plan = await planRelease(manifest, wanted, options)
  if (plan.repository === undefined) {
    say('note: package.json has no "repository": the workflow and npm refuse to publish without it')
  }
  if (values['dry-run']) return print(plan)
  await carryOut(plan)
  await printNext(plan)
}

function readFlags() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        checked: { type: 'boolean', default: false },
        'no-executable': { type: 'boolean', default: false },
        files: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new Refusal((error as Error).message, 'npm run release -- --help', 2)
  }
}

/** Checks all that a release needs, and writes nothing. */
async function planRelease(manifest: Manifest, wanted: string, options: Options): Promise<Plan> {
  const version = nextVersion(manifest.version, wanted)
  const tag = `v${version}`
  checkNode(manifest)
  await checkTree(tag)
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  if (changelog.includes(`\n## [${version}]`)) {
    throw new Refusal(`CHANGELOG.md already has a section [${version}]`, 'Choose a higher version')
  }
  if (entriesOf(changelog, 'Unreleased').length === 0) {
    throw new Refusal(
      'CHANGELOG.md has no entries under [Unreleased]',
      'Write what changes for users, and commit it',
    )
  }
  const isTagged = (await git('tag', '--list', `v${manifest.version}`)) !== ''
  return {
    ...options,
    manifest,
    version,
    tag,
    head: await git('rev-parse', 'HEAD'),
    date: new Date().toISOString().slice(0, 10),
    previous: isTagged ? manifest.version : undefined,
    repository: webAddress(manifest),
    places: await placesOf(manifest.version),
  }
}

/** Returns the version that was asked for. Throws if it is not higher than the current one. */
function nextVersion(current: string, wanted: string): string {
  const numbers = numbersOf(current)
  const [major = 0, minor = 0, patch = 0] = numbers
  const steps: Readonly<Record<string, readonly number[]>> = {
    major: [major + 1, 0, 0],
    minor: [major, minor + 1, 0],
    patch: [major, minor, patch + 1],
  }
  const next = steps[wanted] ?? numbersOf(wanted)
  const first = next.findIndex((number, index) => number !== numbers[index])
  if (first === -1 || (next[first] ?? 0) < (numbers[first] ?? 0)) {
    const hint = `npm run release -- ${major}.${minor + 1}.0`
    throw new Refusal(`Version ${wanted} must be higher than ${current}`, hint, 2)
  }
  return next.join('.')
}

function numbersOf(version: string): readonly number[] {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version)) {
    throw new Refusal(`Not a version: ${version}`, 'Three numbers such as 1.4.0, or patch, minor or major', 2)
  }
  return version.split('.').map(Number)
}

/** Throws unless Node is one that the program supports: the build starts the program. */
function checkNode({ engines }: Manifest): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isSupported = engines.node.split('||').some((range) => {
    const [, sign, from, after = 0] = /^(\^|>=)(\d+)(?:\.(\d+))?/.exec(range.trim()) ?? []
    const isSame = major === Number(from) && minor >= Number(after)
    return isSame || (sign === '>=' && major > Number(from))
  })
  if (isSupported) return
  throw new Refusal(
    `Node ${process.version} is not supported: package.json requires ${engines.node}`,
    'npm ci, and npm run release',
  )
}

/** Throws unless the working tree is a clean main that no release was made of. */
async function checkTree(tag: string): Promise<void> {
  const branch = await git('branch', '--show-current')
  if (branch !== 'main') {
    throw new Refusal(`A release is made of main, not of ${branch || 'a detached HEAD'}`, 'git switch main')
  }
  const changes = await git('status', '--porcelain')
  if (changes !== '') {
    throw new Refusal(
      `The working tree has changes:\n${changes}`,
      'Commit them, or git stash --include-untracked',
    )
  }
  if ((await git('tag', '--list', tag)) !== '') {
    throw new Refusal(`The tag ${tag} already exists`, 'Choose a higher version')
  }
  const behind = await git('rev-list', '--count', 'HEAD..@{upstream}').catch(() => '0')
  if (behind !== '0') {
    throw new Refusal(`main is ${behind} commits behind its upstream`, 'git pull --rebase')
  }
}

/** Returns the files in which a version of the program stands. */
async function placesOf(version: string): Promise<readonly string[]> {
  const paths = ['.', ...elsewhere.map((path) => `:(exclude)${path}`)]
  // Exit code 1: no file has it.
  const found = await git('grep', '-lIF', '-e', version, '--', ...paths).catch(() => '')
  return found
    .split('\n')
    .filter((path) => path !== '' && patternOf(version).test(readFileSync(path, 'utf8')))
}

function print({ manifest, version, tag, date, places, isChecked, hasExecutable }: Plan): void {
  const entries = entriesOf(readFileSync('CHANGELOG.md', 'utf8'), 'Unreleased').length
  const runs = [
    'npm run docs',
    ...(isChecked ? [] : ['npm run check']),
    'npm run build',
    'npm pack',
    ...(buildsExecutable(manifest, hasExecutable) ? ['npm run executable'] : []),
  ]
  const lines = [
    `Would release ${manifest.name} ${version} (now ${manifest.version}). Nothing is written.`,
    `  version    package.json, package-lock.json${places.map((path) => `, ${path}`).join('')}`,
    `  changelog  ${entries} entries of [Unreleased] become [${version}] - ${date}`,
    ...runs.map((run, index) => `  ${index === 0 ? 'runs     ' : '         '}  ${run}`),
    `  writes     ${folder}/{${filesOf(manifest, version, hasExecutable).join(',')}}`,
    `  commit     release: ${version}`,
    `  tag        ${tag}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Makes the release. If a step fails, the files that git knows are as they were. */
async function carryOut(plan: Plan): Promise<void> {
  const { version, tag, head, isChecked } = plan
  try {
    say(`Setting the version to ${version}`)
    writeVersion(plan)
    await run('npm', ['run', 'docs'])
    await checkPlaces(plan)
    if (!isChecked) {
      say('Checking')
      await run('npm', ['run', 'check'], { isShown: true })
    }
    await makeFiles(plan)
    say('Committing')
    const unknown = await git('ls-files', '--others', '--exclude-standard')
    if (unknown !== '') {
      throw new Refusal(`New files would not be part of the release:\n${unknown}`, 'Commit or remove them')
    }
    interrupted.signal.throwIfAborted()
    await git('commit', '--quiet', '--all', '--message', `release: ${version}`)
    await git('tag', '--annotate', tag, '--message', `${plan.manifest.name} ${version}`)
  } catch (error) {
    await restore(head)
    say(`Restored the files of ${head.slice(0, 8)}; npm run build restores dist`)
    throw error
  }
}

function writeVersion({ manifest, version, date, previous, repository, places }: Plan): void {
  replace('package.json', (text) =>
    text.replace(`"version": "${manifest.version}"`, () => `"version": "${version}"`),
  )
  replace('package-lock.json', (text) => {
    const lock = JSON.parse(text)
    lock.version = version
    lock.packages[''].version = version
    return `${JSON.stringify(lock, null, 2)}\n`
  })
  replace('CHANGELOG.md', (text) => moveUnreleased(text, { version, date, previous, repository }))
  for (const path of places) replace(path, (text) => text.replaceAll(patternOf(manifest.version), version))
}

function replace(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

/** Throws if generated files still name the version before. */
async function checkPlaces({ manifest }: Plan): Promise<void> {
  const places = await placesOf(manifest.version)
  if (places.length === 0) return
  throw new Refusal(
    `After npm run docs, ${manifest.version} still stands in ${places.join(', ')}`,
    'See placesOf in packaging/release.ts',
  )
}

/** Makes the files of a version that is committed already, as a workflow does for a tag. */
async function remakeFiles(manifest: Manifest, wanted: string, options: Options): Promise<void> {
  if (wanted !== manifest.version) {
    throw new Refusal(
      `package.json has version ${manifest.version}, not ${wanted}`,
      `git switch --detach v${wanted}`,
    )
  }
  await makeFiles({ ...options, manifest, version: wanted, repository: webAddress(manifest) })
  printFiles()
}

/** Brings the files that git knows back to a commit, and removes the files of the release. */
async function restore(head: string): Promise<void> {
  if ((await git('rev-parse', 'HEAD')) !== head) await git('reset', '--quiet', '--soft', head)
  const written = (await git('diff', '--name-only', '-z', head)).split('\0').filter(Boolean)
  if (written.length > 0) {
    await git('restore', '--source', head, '--staged', '--worktree', '--', ...written)
  }
  rmSync(folder, { recursive: true, force: true })
}

async function printNext({ version, tag }: Plan): Promise<void> {
  printFiles()
  const commit = await git('rev-parse', '--short', 'HEAD')
  const [remote] = (await git('remote')).split('\n').filter(Boolean)
  const next =
    remote === undefined
      ? 'git remote add origin <url> && git push --follow-tags -u origin main'
      : 'git push --follow-tags'
  process.stdout.write(
    `Committed ${commit} as release: ${version}, and tagged it ${tag}. Nothing is published yet.\n` +
      `Next, with the right to push: ${next}\n` +
      '  The tag starts .github/workflows/release.yml, which publishes to npm and GitHub.\n',
  )
}
