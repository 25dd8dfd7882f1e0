import { visible } from '../../codec/hidden-characters.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import type { Context } from './context.ts'

/** A question before something is destroyed. */
export interface Question {
  /** What would be done, verb first, without a mark at its end: `Delete course Marine Biology (12 lessons)`. */
  readonly text: string
  /** A sentence about what that means. */
  readonly consequence: string
  /** What has to be typed out for a yes, where nothing brings the thing back. */
  readonly typed?: string
}

/**
 * Asks before `action`, such as `delete course crs_1`, is done at the target in use, which the question names, too.
 * Without a terminal it needs `--yes`. Throws a UsageError, or a CommandError when the answer is no.
 */
export async function confirm(
  context: Context,
  action: string,
  question: () => Promise<Question>,
): Promise<void> {
  const target = context.session.target()
  const where = target.kind === 'local' ? `in ${target.database}` : `on ${new URL(target.url).host}`
  await ask(context, action, async () => {
    const { text, ...rest } = await question()
    return { text: `${text} ${where}`, ...rest }
  })
}

/** The same for a thing that is not at a target; `where` says what it is in, `consequence` what that means. */
export async function confirmAt(
  context: Pick<Context, 'settings' | 'prompts'>,
  action: string,
  where: string,
  consequence = '',
): Promise<void> {
  const text = `${action.charAt(0).toUpperCase()}${action.slice(1)} ${where}`
  await ask(context, action, async () => ({ text, consequence }))
}

async function ask(
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
  const sentence = visible(`${text}?${consequence === '' ? '' : ` ${consequence}`}`)
  if (typed !== undefined) await prompts.typed(sentence, visible(typed))
  else if (!(await prompts.confirm(sentence))) {
    throw new CommandError('declined', 'failure', 'Cancelled; nothing was changed')
  }
}
