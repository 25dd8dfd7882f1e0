import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ran, type RunOptions, type TestCli, words } from './cli.ts'

const substitution = /"?\$\(learnctl ([^)]*)\)"?/g

/**
 * Runs a line of a shell that calls the program, as far as examples go: `$(learnctl …)`, `"$NAME"`, `< file`,
 * `> file`, and a pipe into the program. What follows another pipe or a comment sign is another program's, and is left
 * out.
 */
export async function runLine(cli: TestCli, line: string, options: RunOptions = {}): Promise<Ran> {
  const [first = '', second] = line.split(' | learnctl ')
  if (second !== undefined) {
    const fed = await runLine(cli, first, options)
    return fed.code === 0 ? runLine(cli, second, { ...options, stdin: fed.stdout }) : fed
  }
  const [own = ''] = line.split(/ [|#] /)
  const [, command = '', arrow, file = ''] = /^(?:learnctl )?(.*?)(?: ([<>]) (\S+))?$/.exec(own.trim()) ?? []
  let text = command
  for (const [whole, inner = ''] of command.matchAll(substitution)) {
    const { code, stdout, stderr } = await cli.run(inner, options)
    if (code !== 0) return { code, stdout, stderr }
    text = text.replace(whole, stdout.trim())
  }
  text = text.replace(/"\$([A-Z_]+)"/g, (_, name: string) => options.env?.[name] ?? '')
  const path = join(cli.cwd, file)
  const ran = await cli.run(words(text), {
    ...options,
    ...(arrow === '<' && { stdin: readFileSync(path, 'utf8') }),
  })
  if (arrow === '>') writeFileSync(path, ran.stdout)
  return ran
}
