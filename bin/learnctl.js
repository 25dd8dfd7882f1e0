#!/usr/bin/env node
// Old Nodes have to get as far as the one that came along: no `?.` and no `node:` in this file.

const fs = require('fs')

const [major, minor] = process.versions.node.split('.').map(Number)
const words = process.argv.slice(2)

if (major > 25 || (major === 24 && minor >= 15)) start()
else startWithOwnNode()

function start() {
  endWithLauncher()
  if (printStored()) return
  const { TMPDIR } = process.env
  // The cache is there, and would make a directory that is missing.
  if (!TMPDIR || fs.existsSync(TMPDIR)) process.getBuiltinModule('node:module').enableCompileCache()
  try {
    require('../dist/main.cjs').start()
  } catch (error) {
    // Only the first line: the rest of it is a stack of files.
    console.error(`error: Cannot load learnctl: ${error.message.split('\n')[0]}`)
    process.exitCode = 1
  }
}

/** Prints the version, or the help that the build has stored, without loading the program. Returns false for other words. */
function printStored() {
  if (words.length > 1) return false
  const word = words.length === 0 ? '--help' : words[0]
  try {
    const text = /^(--version|-V|-v|version)$/.test(word)
      ? `${require('../package.json').version}\n`
      : /^(--help|-h|help)$/.test(word)
        ? fs.readFileSync(`${__dirname}/../dist/help.txt`)
        : null
    if (text === null) return false
    const bytes = Buffer.from(text)
    const rest = bytes.subarray(fs.writeSync(1, bytes))
    if (rest.length > 0) process.stdout.write(rest)
    return true
  } catch (_) {
    return false
  }
}

/** Ends the program as SIGTERM does once its launcher, which an older Node runs, is gone: its channel closes then. */
function endWithLauncher() {
  if (process.env.LEARNCTL_LAUNCHED === undefined || !process.channel) return
  // What this program starts has no launcher.
  delete process.env.LEARNCTL_LAUNCHED
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    // Longer than a server takes to finish its requests; the second signal ends the program at once.
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), 35_000).unref()
  })
  process.channel.unref()
}

/** Returns a path as one word of a shell. */
function quoted(path) {
  return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `"${path}"`
}

/** Runs the same words with the Node that `npm ci` installs beside the program: its streams are this process's own. */
function startWithOwnNode() {
  const { existsSync, realpathSync } = fs
  const { dirname, join } = require('path')
  const launcher = realpathSync(process.argv[1])
  const modules = join(dirname(launcher), '..', 'node_modules')
  const own = ['node', 'node.exe'].map((name) => join(modules, 'node', 'bin', name)).find(existsSync)
  // The one that came along says so itself, should it be too old: once is enough.
  if (own === undefined || process.execPath === realpathSync(own)) {
    const isClone = existsSync(join(modules, '..', 'package-lock.json'))
    const way = isClone
      ? 'Install a suitable one in the clone of learnctl: npm ci'
      : // The npm of an older Node fails with --allow-scripts, without which npm 12 would install no Node.
        `Install it from https://nodejs.org, or run: npx -p node@24 node ${quoted(launcher)}`
    console.error(
      `error: Node ${process.version} is not supported: learnctl requires Node 24.15 or newer, except 25\n  hint: ${way}`,
    )
    process.exitCode = 1
    return
  }
  const { spawn } = require('child_process')
  let child
  // Before there is a child: a signal in between would leave it behind. It is heard once the child is there, whose clean-up is
  // waited for. What a terminal sends reaches both; the child takes it twice as once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child = spawn(own, [launcher].concat(words), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: Object.assign({}, process.env, { LEARNCTL_LAUNCHED: '1' }),
  })
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
