import type { Part } from '../academy/entry.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { plainText } from '../command/refusals.ts'
import { UsageError } from '../terminal/errors.ts'

/** `learnctl dump` */
export const command: Command = {
  name: 'dump',
  summary: 'Write an academy to academy files',
  description:
    'Writes users, courses with lessons, enrolments, progress and grades as `learnctl apply` reads them, to standard output\nor a file (YAML, or JSON by its name), or to a folder. Passwords are left out.',
  flags: [
    { name: 'file', kind: 'text', placeholder: 'path', summary: 'Write one file, .yaml or .json' },
    {
      name: 'dir',
      kind: 'text',
      placeholder: 'path',
      summary: 'Write a folder: a file for each course, tables for the rest',
    },
    { name: 'force', kind: 'switch', summary: 'Overwrite existing files' },
  ],
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: ['dump --file academy-dump.yaml', 'dump --dir academy-dump'],
  run,
}

async function run(context: Context, { flags }: Given): Promise<void> {
  const { io, output, settings } = context
  const [file, dir] = [flags['file'], flags['dir']]
  if (file !== undefined && dir !== undefined)
    throw new UsageError('--file and --dir cannot be used together')
  const [{ academyChunks, jsonDocument, yamlText }, { openWriting }, { countText }] = await Promise.all([
    import('../academy/dump.ts'),
    import('../records/execute.ts'),
    import('../academy/entry.ts'),
  ])
  const counts = new Map<Part, number>()
  const reader = await openWriting(context)
  async function* counting() {
    for await (const chunk of academyChunks(reader)) {
      counts.set(chunk.part, (counts.get(chunk.part) ?? 0) + chunk.records.length)
      yield chunk
    }
  }
  const force = flags['force'] === true
  if (dir !== undefined) {
    const { dumpFolder } = await import('../academy/dump-folder.ts')
    await dumpFolder(io, String(dir), counting(), force)
  } else {
    const json = file === undefined ? settings.output.value === 'json' : /\.json$/i.test(String(file))
    const text = (json ? jsonDocument : yamlText)(counting())
    if (file === undefined) return output.exact(text)
    const { openTarget } = await import('../terminal/target-file.ts')
    const target = await openTarget(io.cwd, String(file), { force, mode: 0o600 })
    try {
      for await (const piece of text) await target.write(Buffer.from(piece))
      await target.finish()
    } catch (error) {
      await target.discard()
      throw error
    }
  }
  const told = [...counts].map(([part, count]) => countText(part, count)).join(', ')
  await output.done(`Wrote ${file ?? dir}: ${told || 'an empty academy'}`)
}
