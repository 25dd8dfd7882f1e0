import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { plainText } from '../command/refusals.ts'
import { painterFor } from '../terminal/colour.ts'
import { ExitWith } from '../terminal/errors.ts'
import { env, files, label, prune } from './academy-files.ts'

/** `learnctl diff` */
export const command: Command = {
  name: 'diff',
  summary: 'Compare academy files with an academy (exit 9 if they differ)',
  description:
    'Shows what `learnctl apply` would do: + created, ~ changed field by field, - deleted. Nothing is changed.\nExits 9 if there are changes, 0 if there are none. Lessons that apply keeps are noted: those that are there twice, or are\nnot declared.',
  arguments: [files],
  flags: [env, label, prune],
  refuses: { ...plainText, dryRun: 'It changes nothing' },
  examples: ['diff academy.yaml', 'diff academy.yaml -o json'],
  run,
}

async function run(context: Context, given: Given): Promise<void> {
  const { output } = context
  const { readFiles } = await import('../academy/plan-run.ts')
  const { plan } = await (await readFiles(context, given))(context)
  await printPlan(context, plan)
  const { undeclaredNotes } = await import('../academy/plan-text.ts')
  for (const note of [...plan.notes, ...undeclaredNotes(plan)]) await output.note(note)
  if (plan.actions.length > 0) throw new ExitWith('drift')
}

/** Prints a plan to standard output in the requested format. */
export async function printPlan(
  { io, output, settings }: Context,
  plan: import('../academy/plan.ts').Plan,
): Promise<void> {
  const { planDocument, planText } = await import('../academy/plan-text.ts')
  if (settings.output.value !== 'table') {
    await output.document(planDocument(plan))
    return
  }
  await output.text([...planText(plan, await painterFor(io.stdout, io, settings))].join(''))
}
