import { escapeHidden } from '../../codec/display-text.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { capitalise } from '../terminal/format-text.ts'
import type { Context } from './context.ts'

export interface Question {
  /** The action, verb first, without punctuation at its end: `Delete course Marine Biology (12 lessons)`. */
  readonly text: string
  readonly consequence: string
  /** Text to type, for an irreversible action. */
  readonly typed?: string
}

/** Names the current target. Throws a UsageError without a terminal or `--yes`, or a CommandError if the answer is no. */
export async function confirm(
  context: Context,
  action: string,
  question: () => Promise<Question>,
): Promise<void> {
  const target = context.session.target()
  const where = target.kind === 'local' ? `in ${target.database}` : `on ${new URL(target.url).host}`
  await askToConfirm(context, action, async () => {
    const { text, ...rest } = await question()
    return { text: `${text} ${where}`, ...rest }
  })
}

export async function confirmAt(
  context: Pick<Context, 'settings' | 'prompts'>,
  action: string,
  where: string,
  consequence = '',
): Promise<void> {
  const text = `${capitalise(action)} ${where}`
  await askToConfirm(context, action, async () => ({ text, consequence }))
}

async function askToConfirm(
  { settings, prompts }: Pick<Context, 'settings' | 'prompts'>,
  action: string,
  question: () => Promise<Question>,
): Promise<void> {
  if (settings.yes.value || settings.dryRun.value) return
  if (prompts.refusal !== null) {
    throw new UsageError(`Refusing to ${action} without confirmation`, {
      code: 'confirmation_needed',
      why: [prompts.refusal],
      hint: 'Confirm with --yes',
    })
  }
  const { text, consequence, typed } = await question()
  const sentence = escapeHidden(`${text}?${consequence === '' ? '' : ` ${consequence}`}`)
  if (typed !== undefined) await prompts.typed(sentence, escapeHidden(typed))
  else if (!(await prompts.confirm(sentence))) {
    throw new CommandError('declined', 'failure', 'Cancelled; nothing was changed')
  }
}
