#!/usr/bin/env node
// Old Nodes have to get as far as their own message: no import statement, no import.meta, no `?.` in this file.

const [major, minor] = process.versions.node.split('.').map(Number)
const words = process.argv.slice(2)

if (major > 25 || (major === 24 && minor >= 15)) {
  if (!answerAtOnce()) start()
} else {
  console.error(
    `learnctl needs Node 24.15 or newer, or 26 (not 25); this is ${process.version}. In its checkout, \`npx learnctl …\` runs it with a Node of its own.`,
  )
  process.exitCode = 1
}

/** The two texts that need no program: made at build time, they are there before anything is loaded. */
function answerAtOnce() {
  const [first] = words
  const name = first === '--version' ? 'version.txt' : ''
  const help =
    first === undefined || (words.length === 1 && /^(help|--help|-h)$/.test(first)) ? 'help.txt' : ''
  if (name + help === '') return false
  const { readFileSync, realpathSync } = process.getBuiltinModule('node:fs')
  const { dirname, join } = process.getBuiltinModule('node:path')
  let text
  try {
    text = readFileSync(join(dirname(realpathSync(process.argv[1])), '..', 'dist', name + help))
  } catch {
    return false
  }
  // The build writes these files with what this very launcher prints: they are there, and empty, while it does.
  if (text.length === 0) return false
  // Whoever reads it may be gone already, which is no fault.
  process.stdout.on('error', () => {})
  process.stdout.write(text)
  return true
}

function start() {
  process.getBuiltinModule('node:module').enableCompileCache()
  import('../dist/main.js').then(
    (program) => program.start(),
    (error) => {
      console.error(`error: learnctl cannot be loaded: ${error.message}`)
      process.exitCode = 1
    },
  )
}
