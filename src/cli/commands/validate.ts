import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { noTarget, plainText } from '../command/refusals.ts'
import { counted } from '../terminal/counted.ts'
import { env, files } from './academy-files.ts'

/** `learnctl validate` */
export const command: Command = {
  name: 'validate',
  summary: 'Check academy files for problems, offline',
  description:
    'Reads the files of an academy and the tables that they name, and tells every problem with its file and line.\nNothing is sent. The format is described in docs/academies.md.',
  arguments: [files],
  flags: [
    env,
    { name: 'schema', kind: 'switch', summary: 'Print the JSON Schema of the format, for editors' },
  ],
  refuses: { ...noTarget, ...plainText, dryRun: 'Nothing is sent' },
  examples: ['validate academy.yaml', 'validate --schema > academy.schema.json'],
  run,
}

async function run({ io, output, settings }: Context, given: Given): Promise<void> {
  if (given.flags['schema'] === true) {
    const { academySchema } = await import('../academy/academy-document.ts')
    await output.text(`${JSON.stringify(academySchema(), null, 2)}\n`)
    return
  }
  const [{ findFiles }, { loadAcademy }, { textsOf }, { countText }] = await Promise.all([
    import('../academy/find-files.ts'),
    import('../academy/load-academy.ts'),
    import('../academy/plan-run.ts'),
    import('../academy/entry.ts'),
  ])
  const found = await findFiles(io, given.rest)
  const declared = await loadAcademy(io, found, textsOf(given, 'env'))
  const counts = [...declared].map(([dataset, entries]) => [dataset, entries.length] as const)
  if (['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    await output.document({ valid: true, files: found, ...Object.fromEntries(counts) })
    return
  }
  const told = counts.map(([dataset, count]) => countText(dataset, count)).join(', ')
  const [first] = found
  const what = found.length === 1 ? `${first} is` : `${counted(found.length, 'file')} are`
  await output.done(`${what} valid: ${told || 'nothing declared'}`)
}
