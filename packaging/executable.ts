import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'tsdown'
import type { Contents } from './unpack.ts'

// Makes the program one file, `release/learnctl-linux-x64`, from `dist` and the Node that runs this script, with a
// checksum for `sha256sum -c` beside it: node packaging/executable.ts [folder]

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const { platform, arch, execPath } = process

/** Parts of `dist` that the program reads. The library, the manual and the completions are printed or not needed. */
const parts = ['main.cjs', 'cli', 'examples', 'common-passwords']
const notices = 'THIRD-PARTY-NOTICES.txt'
/** Text in the executable of Node whose last character says that it contains a program. */
const sentinel = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const rule = `\n\n${'-'.repeat(79)}\n\n`

const folder = resolve(process.argv[2] ?? join(root, 'release'))
const name = `learnctl-${platform}-${arch}${platform === 'win32' ? '.exe' : ''}`

if (!['linux', 'darwin', 'win32'].includes(platform) || !['x64', 'arm64'].includes(arch))
  throw new Error(`Node makes no executables for ${platform}-${arch}`)
if (!existsSync(join(dist, 'main.cjs'))) throw new Error('dist has no program: npm run build')
mkdirSync(folder, { recursive: true })
// In the same file system, from where a file moves in one step.
const work = mkdtempSync(join(folder, '.work-'))
try {
  const made = await makeExecutable()
  const checksum = await checksumOf(made)
  renameSync(made, join(folder, name))
  writeFileSync(join(folder, `${name}.sha256`), `${checksum}  ${name}\n`)
  const megabytes = (statSync(join(folder, name)).size / 1e6).toFixed(1)
  process.stdout.write(`${join(folder, name)} (${megabytes} MB, Node ${process.version})\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function makeExecutable(): Promise<string> {
  pack()
  const launcher = await bundleLauncher()
  const made = join(work, name)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isWhole = major > 25 || (major === 25 && minor >= 5)
  const config = join(work, 'config.json')
  writeFileSync(
    config,
    JSON.stringify({
      main: launcher,
      output: isWhole ? made : join(work, 'blob'),
      disableExperimentalSEAWarning: true,
      assets: { 'contents.json': join(work, 'contents.json'), archive: join(work, 'archive') },
    }),
  )
  if (isWhole) run(execPath, '--build-sea', config)
  else await inject(config, made)
  // The signature of Node does not fit the file any more, and macOS starts none without one.
  if (platform === 'darwin') run('codesign', '--sign', '-', '--force', made)
  chmodSync(made, 0o755)
  return made
}

/** Makes the executable with a Node that writes the blob alone. */
async function inject(config: string, made: string): Promise<void> {
  run(execPath, '--experimental-sea-config', config)
  copyFileSync(execPath, made)
  chmodSync(made, 0o755)
  if (platform === 'darwin') run('codesign', '--remove-signature', made)
  const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'))
  const words = [made, 'NODE_SEA_BLOB', join(work, 'blob'), '--sentinel-fuse', sentinel]
  run(execPath, postject, ...words, ...(platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : []))
}

/** Runs a program; its output is shown only if it fails. */
function run(program: string, ...words: readonly string[]): void {
  try {
    execFileSync(program, words, { stdio: 'pipe', encoding: 'utf8' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${basename(program)} ${words.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** Writes the files of the program as one archive, with their list beside it. */
function pack(): void {
  const files = parts
    .flatMap((part) => (statSync(join(dist, part)).isDirectory() ? filesIn(part) : [part]))
    .sort()
    .map((path): [string, Buffer] => [path, readFileSync(join(dist, path))])
  files.push([
    notices,
    Buffer.from(readFileSync(join(dist, notices), 'utf8').trimEnd() + rule + nodeNotice()),
  ])
  const hash = createHash('sha256')
  for (const [path, bytes] of files) hash.update(`${path}\0${bytes.length}\0`).update(bytes)
  const contents: Contents = {
    id: hash.digest('hex').slice(0, 32),
    files: files.map(([path, { length }]) => [path.replaceAll(sep, '/'), length]),
  }
  writeFileSync(join(work, 'contents.json'), JSON.stringify(contents))
  const bytes = Buffer.concat(files.map(([, each]) => each))
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  writeFileSync(join(work, 'archive'), brotliCompressSync(bytes, { params }))
}

function filesIn(part: string): string[] {
  return readdirSync(join(dist, part), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dist.length + 1))
}

/** Returns the licence of Node and of the software in it, which the downloads of Node contain. */
function nodeNotice(): string {
  const npmPackage = `node-${platform === 'win32' ? 'win' : platform}-${arch}`
  const paths = [
    join(dirname(execPath), '../LICENSE'),
    join(dirname(execPath), 'LICENSE'),
    join(dirname(execPath), '../node_modules', npmPackage, 'LICENSE'),
  ]
  const texts = paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'))
  const text = texts.find((each) => each.startsWith('Node.js is licensed for use as follows'))
  if (text === undefined)
    throw new Error(`The licence of ${execPath} is missing: it is not in ${paths.join(', ')}`)
  return `Node.js ${process.versions.node}\n\n${text.trim()}\n`
}

/** Bundles the start of the executable, which has no files to import from. Returns its path. */
async function bundleLauncher(): Promise<string> {
  await build({
    config: false,
    cwd: root,
    entry: { launcher: 'packaging/launcher.ts' },
    outDir: work,
    clean: false,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minify: true,
    dts: false,
    report: false,
    logLevel: 'error',
  })
  return join(work, 'launcher.cjs')
}

async function checksumOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path)) hash.update(bytes)
  return hash.digest('hex')
}
