#!/usr/bin/env node
// Old Nodes have to get as far as the one that came along: no import statement, no import.meta, no `?.` in this file.

const [major, minor] = process.versions.node.split('.').map(Number)
const words = process.argv.slice(2)

if (major > 25 || (major === 24 && minor >= 15)) {
  if (!answerAtOnce()) start()
} else startWithOwnNode()

/** The two texts that need no program: made at build time, they are there before anything is loaded. */
function answerAtOnce() {
  const [first] = words
  const name = first === '--version' ? 'version.txt' : ''
  const help =
    first === undefined || (words.length === 1 && /^(help|--help|-h)$/.test(first)) ? 'help.txt' : ''
  if (name + help === '') return false
  const { readFileSync, realpathSync, writeSync } = process.getBuiltinModule('node:fs')
  const { dirname, join } = process.getBuiltinModule('node:path')
  let text
  try {
    text = readFileSync(join(dirname(realpathSync(process.argv[1])), '..', 'dist', name + help))
  } catch {
    return false
  }
  // The build writes these files with what this very launcher prints: they are there, and empty, while it does.
  if (text.length === 0) return false
  print(text, writeSync)
  return true
}

/** Without a stream, which takes longer to load than all of the rest, except where only a stream knows how to. */
function print(text, writeSync) {
  let written = 0
  try {
    // A terminal of Windows takes other bytes.
    while (process.platform !== 'win32' && written < text.length) written += writeSync(1, text, written)
  } catch (error) {
    // A pipe that is full for now takes the rest as soon as it can.
    if (error.code !== 'EAGAIN') return notPrinted(error)
  }
  if (written === text.length) return
  process.stdout.on('error', notPrinted)
  process.stdout.write(text.subarray(written))
}

function notPrinted({ code }) {
  // Whoever reads it may be gone already, which is no fault.
  if (code === 'EPIPE') return
  console.error(`error: Cannot write the output: ${code === 'ENOSPC' ? 'the disk is full' : code}`)
  process.exitCode = 1
}

function start() {
  process.getBuiltinModule('node:module').enableCompileCache()
  import('../dist/main.js').then(
    (program) => program.start(),
    (error) => {
      console.error(`error: Cannot load learnctl: ${error.message}`)
      process.exitCode = 1
    },
  )
}

/** Runs the same words with the Node that `npm ci` installs beside the program: its streams are this process's own. */
async function startWithOwnNode() {
  const { existsSync, realpathSync } = await import('node:fs')
  const { dirname, join } = await import('node:path')
  const launcher = realpathSync(process.argv[1])
  const modules = join(dirname(launcher), '..', 'node_modules')
  const own = ['node', 'node.exe'].map((name) => join(modules, 'node', 'bin', name)).find(existsSync)
  // The one that came along says so itself, should it be too old: once is enough.
  if (own === undefined || process.execPath === realpathSync(own)) {
    console.error(
      `error: Node ${process.version} is not supported: learnctl requires Node 24.15 or newer, except 25\n  hint: Install a suitable one in the clone of learnctl: npm ci`,
    )
    process.exitCode = 1
    return
  }
  const { spawn } = await import('node:child_process')
  const child = spawn(own, [launcher].concat(words), { stdio: 'inherit' })
  // The child's clean-up is waited for. What a terminal sends reaches both; the child takes it twice as once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`error: Cannot start ${own}: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code
      return
    }
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
