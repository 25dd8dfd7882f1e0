import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notesOf } from './changelog.ts'
import { Refusal, run, say } from './run.ts'

/** Folder of the files of a release, which git ignores. */
export const folder = 'release'

/** What a release reads from package.json. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
  readonly scripts: Readonly<Record<string, string>>
  readonly repository?: string | { readonly url: string }
}

/** The version whose files are made. */
interface Versioned {
  readonly manifest: Manifest
  readonly version: string
  /** Address of the repository on the web; undefined if package.json has none. */
  readonly repository: string | undefined
  readonly hasExecutable: boolean
}

/** Writes the package, its bill of materials, the executable of this machine, the notes and the checksums. */
export async function makeFiles({ manifest, version, repository, hasExecutable }: Versioned): Promise<void> {
  say('Building')
  await run('npm', ['run', 'build'])
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const archive = archiveOf(manifest, version)
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder])
  copyFileSync('dist/sbom.cdx.json', join(folder, billOf(manifest, version)))
  say('Trying the package')
  await tryPackage(archive, version)
  if (buildsExecutable(manifest, hasExecutable)) {
    say('Building the executable')
    // Without the script before it, which builds once more.
    await run('npm', ['run', 'executable', '--ignore-scripts'])
    const program = join(process.cwd(), folder, executableOf(manifest))
    await inEmptyHome((home) => tryProgram(program, version, home))
  }
  writeFileSync(join(folder, 'notes.md'), notesOf(readFileSync('CHANGELOG.md', 'utf8'), version, repository))
  writeChecksums()
  await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder })
}

/** Returns whether the executable of this machine is built: where it is wanted, and there is a script for it. */
export function buildsExecutable({ scripts }: Manifest, hasExecutable: boolean): boolean {
  return hasExecutable && scripts['executable'] !== undefined
}

/** Returns the names of the files that a release writes. */
export function filesOf(manifest: Manifest, version: string, hasExecutable: boolean): readonly string[] {
  return [
    archiveOf(manifest, version),
    billOf(manifest, version),
    ...(buildsExecutable(manifest, hasExecutable) ? [executableOf(manifest)] : []),
    'notes.md',
    'SHA256SUMS',
  ]
}

/** Returns the name that `npm pack` gives the package. */
function archiveOf({ name }: Manifest, version: string): string {
  return `${name}-${version}.tgz`
}

function billOf({ name }: Manifest, version: string): string {
  return `${name}-${version}.cdx.json`
}

/** Returns the name that `npm run executable` gives the program of this machine. */
function executableOf({ name }: Manifest): string {
  const { platform, arch } = process
  return `${name}-${platform}-${arch}${platform === 'win32' ? '.exe' : ''}`
}

/** Installs the package without a network and scripts, and runs `quickstart` in an empty home. */
async function tryPackage(archive: string, version: string): Promise<void> {
  await inEmptyHome(async (home) => {
    const path = join(process.cwd(), folder, archive)
    const flags = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund', '--cache', join(home, 'cache')]
    await run('npm', ['install', '--global', path, '--prefix', join(home, 'prefix'), ...flags])
    await tryProgram(join(home, 'prefix/bin/learnctl'), version, home)
  })
}

async function inEmptyHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'learnctl-release-'))
  try {
    await work(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Throws unless a program has the version and runs `quickstart`. */
async function tryProgram(program: string, version: string, home: string): Promise<void> {
  const options = { cwd: home, env: { HOME: home } }
  const printed = await run(program, ['--version'], options)
  if (!patternOf(version).test(printed)) {
    throw new Refusal(
      `${program} --version printed ${printed.trim()}, not ${version}`,
      'Look at what npm run build wrote to dist',
    )
  }
  await run(program, ['quickstart'], options)
}

/** Writes SHA256SUMS in the form that `sha256sum --check` reads. */
function writeChecksums(): void {
  const lines = readdirSync(folder)
    .filter((name) => name !== 'notes.md' && !name.endsWith('.sha256'))
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
}

/** Prints the files of the release with their sizes. */
export function printFiles(): void {
  for (const name of readdirSync(folder).sort()) {
    const size = (statSync(join(folder, name)).size / 1e6).toFixed(2)
    process.stdout.write(`${size.padStart(8)} MB  ${folder}/${name}\n`)
  }
}

/** Returns the address of the repository on the web; undefined if the manifest names none. */
export function webAddress({ repository }: Manifest): string | undefined {
  const url = typeof repository === 'string' ? repository : repository?.url
  return url
    ?.replace(/^git\+/, '')
    .replace(/^github:/, 'https://github.com/')
    .replace(/\.git$/, '')
}

/** Matches a version that is not part of a longer one, such as 10.1.0. */
export function patternOf(version: string): RegExp {
  return new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?![\\d]|\\.\\d)`, 'g')
}
