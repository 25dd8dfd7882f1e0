import type { Settings } from '../../config/resolve-settings.ts'
import { isBinaryFormat, type SettingName, textFormats } from '../../config/setting.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import {
  type Argument,
  type Command,
  type Given,
  type Invocation,
  notAList,
  type Refusals,
} from './command.ts'
import type { Context } from './context.ts'
import { timeZoneFlag } from './flag.ts'

/** Runs a command. If an argument entered at a prompt is not found, says so and prompts again. */
export async function runCommand(context: Context, invocation: Invocation): Promise<void> {
  for (;;) {
    const given = await resolveArguments(context, invocation)
    try {
      return await invocation.command.run(context, given)
    } catch (error) {
      const reason = given.isPrompted ? await missingReason(invocation, given, error) : null
      if (reason === null) throw error
      await context.output.note(reason)
    }
  }
}

async function missingReason(
  { command, arguments: typed }: Invocation,
  given: Given,
  error: unknown,
): Promise<string | null> {
  if (!(error instanceof Error)) return null
  const { ApiError } = await import('../../client/errors.ts')
  const isMissing =
    error.cause instanceof ApiError
      ? error.cause.status === 404
      : error instanceof CommandError && error.exit === 'notFound'
  const asked = (command.arguments ?? []).slice(typed.length).map(({ name }) => given.arguments[name])
  const isAbout = isMissing && asked.some((text) => text !== undefined && error.message.includes(text))
  const why = error instanceof CommandError ? error.why : []
  return isAbout ? [error.message.replace(/\.$/, ''), ...why].join('; ') : null
}

/** Times are in the API's format. Prompts for missing arguments on a terminal; throws a UsageError without one. */
async function resolveArguments(context: Context, invocation: Invocation): Promise<Given> {
  const { io, prompts } = context
  const { command, name: path } = invocation
  const { flags: declared = [] } = command
  const flags = declared.includes(timeZoneFlag)
    ? (await import('./resolve-times.ts')).resolveTimes(io, declared, invocation.flags)
    : invocation.flags
  const positions = command.arguments ?? []
  const isNeeded = ({ optional, instead = [] }: Argument) =>
    !optional && !instead.some((flag) => flags[flag] !== undefined)
  const missing = positions.slice(invocation.arguments.length).filter(isNeeded)
  if (missing.length > 0 && prompts.refusal !== null) {
    throw new UsageError(
      `${missing.map(({ name }) => `<${name}>`).join(', ')} ${missing.length === 1 ? 'is' : 'are'} required`,
      {
        code: 'missing_argument',
        why: [prompts.refusal],
        hint: `${insteadOf(missing)}See: ${path} --help`,
      },
    )
  }
  const named: Record<string, string> = {}
  for (const [index, argument] of positions.entries()) {
    const { name } = argument
    const value = invocation.arguments[index]
    const fault = value === undefined ? null : faultOf(argument, value)
    if (fault !== null) {
      const isFile = argument.instead?.includes('file') && /\.(ya?ml|json)$/i.test(value ?? '')
      throw new UsageError(fault, isFile ? { hint: `To name a file: ${path} --file <file>` } : {})
    }
    if (value !== undefined) named[name] = value
    else if (isNeeded(argument)) named[name] = await promptForArgument(context, command, argument)
  }
  const rest = positions.findIndex(({ rest }) => rest)
  const given = rest < 0 ? [] : invocation.arguments.slice(rest)
  // An answer to a prompt is split into words.
  const asked = given.length > 0 ? undefined : named[positions[rest]?.name ?? '']
  const isPrompted = missing.length > 0
  return {
    arguments: named,
    flags,
    rest: asked?.trim().split(/\s+/) ?? given,
    ...(isPrompted && { isPrompted }),
  }
}

async function promptForArgument(context: Context, command: Command, argument: Argument): Promise<string> {
  const { pickThing, pickedNouns } = await import('./pick-thing.ts')
  const { name } = argument
  // Lists do not include deleted records.
  if (name in pickedNouns && command.calls && !command.name.startsWith('restore'))
    return pickThing(context, name)
  return context.prompts.text(`${argument.summary}:`, (text) => faultOf(argument, text) ?? true)
}

function insteadOf(missing: readonly Argument[]): string {
  const [first, ...others] = missing.map(({ instead = [] }) => instead)
  const all = (first ?? []).filter((flag) => others.every((each) => each.includes(flag)))
  return all.length === 0 ? '' : `Or use ${all.map((flag) => `--${flag}`).join(' or ')}. `
}

function faultOf({ name, whole }: Argument, text: string): string | null {
  if (!whole || /^[1-9]\d*$/.test(text)) return null
  return `<${name}> must be a whole number, 1 or more, not ${JSON.stringify(text)}`
}

/**
 * Variables and the project file apply to many commands, so unsupported ones are ignored, except dry run: the user must not
 * believe that nothing was changed.
 */
export async function refuseSettings({ io, settings }: Context, invocation: Invocation): Promise<void> {
  const { command, name } = invocation
  const refuses = { ...(await paging(settings, command)), ...command.refuses }
  for (const [setting, reason] of Object.entries(refuses)) {
    // The keys of refusals are setting names.
    const { value, origin } = settings[setting as SettingName]
    const asked = setting === 'dryRun' ? value === true : origin.source === 'flag'
    if (!asked) continue
    throw new UsageError(`${origin.name} is not supported by \`${name}\``, {
      code: 'unsupported_flag',
      why: [reason],
    })
  }
  await refuseFormat({ io, settings }, invocation)
}

async function refuseFormat(
  { io, settings }: Pick<Context, 'io' | 'settings'>,
  { command, name, flags }: Invocation,
): Promise<void> {
  const { value, origin } = settings.output
  const ofFlag = flags['format']
  const [format, flag] = isBinaryFormat(value) ? [value, origin.name] : [String(ofFlag), '--format']
  if (!isBinaryFormat(format) || settings.quiet.value) return
  const hasRows = command.hasRows || /(^| )list$/.test(command.name) || (await isListCall(command))
  if (!hasRows) {
    throw new UsageError(`${flag} ${format} is not supported by \`${name}\``, {
      code: 'unsupported_flag',
      why: ['Only lists and exports have rows'],
      hint: `Use another format: ${textFormats.join(', ')}`,
    })
  }
  const isRedirected =
    command.hasRows === 'in a folder' ||
    !io.stdout.isTTY ||
    settings.dryRun.value ||
    isFile(flags['file']) ||
    flags['to-sheet'] !== undefined
  if (isRedirected) return
  throw new UsageError(`Cannot show ${format} on a terminal`, {
    code: 'binary_on_terminal',
    hint: command.flags?.some(({ name }) => name === 'file')
      ? `Write a file: --file <name>.${format}`
      : `Redirect it to a file: ${name} -o ${format} > <name>.${format}`,
  })
}

function isFile(file: unknown): boolean {
  return file !== undefined && file !== '-'
}

async function isListCall({ calls }: Pick<Command, 'calls'>): Promise<boolean> {
  return calls !== undefined && (await calls.operation()).list === true
}

/**
 * Returns the refusals of paging flags. Only the operation knows whether it pages; it is loaded only if such a flag
 * is set.
 */
async function paging({ limit, all }: Settings, { calls }: Command): Promise<Refusals> {
  const asked = [limit, all].some(({ origin }) => origin.source === 'flag')
  return asked && calls && !(await isListCall({ calls })) ? notAList : {}
}
