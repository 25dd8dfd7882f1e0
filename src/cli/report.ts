import { escapeHidden } from '../codec/display-text.ts'
import { jsonText } from '../codec/json-text.ts'
import { colourModes } from '../config/setting.ts'
import type { Target } from '../config/target.ts'
import type { Context } from './command/context.ts'
import { type Failure, failureOf } from './failures.ts'
import { httpHead, maskText } from './output/mask.ts'
import { databaseErrorOf } from './session/academy-file.ts'
import { secretsIn } from './session/session.ts'
import { CommandError, type ExitName, exitCode } from './terminal/errors.ts'
import { colourLevel, createPainter, maskSecretsInText } from './terminal/format-text.ts'
import { type Io, wrapLine, writeStderr } from './terminal/io.ts'

/** A failed run; its context is null if the error came before it. */
interface FailedRun {
  readonly argv: readonly string[]
  readonly io: Io
  readonly context: Context | null
}

/**
 * Prints an error to standard error: as text, or as one line of JSON with `-o json|jsonl`. Returns the name
 * of the exit code.
 */
export async function report(error: unknown, run: FailedRun): Promise<ExitName> {
  const original = failureOf(error, targetOf(run))
  const cause = await ownFault(error, original, run)
  const fault = cause instanceof Error && cause.name === 'DatabaseError' ? null : cause
  if (wanted('debug', run)) await debug(error, fault, run)
  const failure =
    fault !== null
      ? internal(original, fault, run)
      : cause !== null
        ? failureOf(databaseErrorOf(cause), targetOf(run))
        : original
  const asJson = /^jsonl?$/.test(wanted('output', run) ?? '')
  await (asJson ? reportJson(run, failure) : reportText(run, failure))
  if (error instanceof CommandError && error.findings) {
    const { reportToWorkflow } = await import('./output/github.ts')
    const mask = (text: string) => maskSecretsInText(text, secretsOf(run))
    const list = error.findings.list.map((finding) => ({ ...finding, text: mask(finding.text) }))
    await reportToWorkflow(run.io, { ...error.findings, title: mask(error.message), list }, !asJson)
  }
  return failure.exit
}

async function reportText(run: FailedRun, failure: Failure): Promise<void> {
  const { io } = run
  const mode = colourModes.find((mode) => mode === wanted('color', run)) ?? 'auto'
  const level = colourLevel(io.stderr, io.env, mode)
  const label = level === 0 ? 'error:' : (await createPainter(level)).red.bold('error:')
  const { message, why, hint, requestId } = failure
  const lines = [
    ...why,
    ...(hint === null ? [] : [`hint: ${hint}`]),
    ...(requestId === null ? [] : [`request id: ${requestId}`]),
  ]
  const secrets = secretsOf(run)
  const [first = '', ...others] = [
    `error: ${escapeHidden(message)}`,
    ...lines.map((line) => `  ${escapeHidden(line)}`),
  ].map((line) => wrapLine(io, maskSecretsInText(line, secrets)))
  await writeStderr(io, `${[first.replace('error:', label), ...others].join('\n')}\n`)
}

async function reportJson(run: FailedRun, failure: Failure): Promise<void> {
  const { code, exit, message, why, hint, status, requestId, retryable, details } = failure
  const error = {
    code,
    exitCode: exitCode(exit),
    message,
    hint,
    status,
    requestId,
    retryable,
    details: details.length > 0 ? details : why.map((line) => ({ message: line })),
  }
  await writeStderr(run.io, `${maskSecretsInText(jsonText({ error }), secretsOf(run))}\n`)
}

function targetOf({ context }: FailedRun): Target | null {
  try {
    return context?.session.target() ?? null
  } catch {
    return null // A missing target may be the error.
  }
}

/**
 * Returns the text of a setting. An invalid command line has no settings, but `-o json` must work for its
 * error, too.
 */
function wanted(name: 'output' | 'color' | 'debug', { argv, io, context }: FailedRun): string | undefined {
  if (context)
    return context.settings[name].value === false ? undefined : String(context.settings[name].value)
  const flags = name === 'output' ? /^(?:--output=|-o)(.+)$/ : new RegExp(`^--${name}(?:=(.+))?$`)
  const separate = name === 'output' ? ['-o', '--output'] : [`--${name}`]
  const given = argv.flatMap((word, index) => {
    if (separate.includes(word)) return [name === 'debug' ? 'true' : (argv[index + 1] ?? '')]
    const attached = flags.exec(word)?.[1]
    return attached === undefined ? [] : [attached]
  })
  return given.at(-1) ?? (io.env[`LEARNCTL_${name.toUpperCase()}`] || undefined)
}

/** Returns an error that is a bug of this program, or of the academy in it; null for any other. */
async function ownFault(
  error: unknown,
  { code, requestId }: Failure,
  { context }: FailedRun,
): Promise<unknown> {
  if (code === 'unexpected') return error
  if (code !== 'internal' || requestId === null) return null
  return (await context?.session.causeOf(requestId)) ?? null
}

function internal(failure: Failure, fault: unknown, run: FailedRun): Failure {
  const reason = fault instanceof Error ? fault.message : String(fault)
  return {
    ...failure,
    message: maskText(`Internal error: ${reason}`, secretsOf(run)),
    hint: 'Use --debug for the details',
  }
}

async function debug(error: unknown, fault: unknown, run: FailedRun): Promise<void> {
  const { answerBehind } = await import('../client/errors.ts')
  const inner = fault === null || fault === error ? '' : `\ncaused by ${stackOf(fault)}`
  const answer = answerBehind(error)
  const lines = answer ? [...httpHead(answer), '', ...answer.body.trimEnd().split('\n')] : []
  const text = `${stackOf(error)}${inner}\n${lines.map((line) => `debug: ${line}`.trimEnd()).join('\n')}`
  await writeStderr(run.io, `${visibleLines(maskText(text.trimEnd(), secretsOf(run)))}\n`)
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}

function secretsOf({ context, io }: FailedRun): readonly string[] {
  return context?.session.secrets() ?? secretsIn(io.env)
}

function visibleLines(text: string): string {
  return text.split('\n').map(escapeHidden).join('\n')
}
