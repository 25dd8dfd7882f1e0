import type { AnyInput, Result } from '../../client/call.ts'
import { escapeHidden } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { hasChosenForm, type Shape } from '../output/output.ts'
import { ExitWith } from '../terminal/errors.ts'
import type { BoundCall, Rows } from './operation-spec.ts'

interface AnsweredCall {
  /** Input in the form of the command line. */
  readonly input: AnyInput
  readonly result: Result<unknown>
  readonly destroyed?: unknown
  readonly shape: Shape
  /** Undefined for the record itself. */
  readonly rows: Rows | undefined
  /** Field of the answer, shown only once. */
  readonly secret: string | undefined
  /** Gets the record instead of the output, if the command handles several. */
  readonly collect?: (record: unknown) => void
}

/** Throws ExitWith if the command has its own exit code for the answer. */
export async function printAnswer(
  context: Context,
  given: Given,
  call: BoundCall,
  answered: AnsweredCall,
): Promise<void> {
  const { settings, output } = context
  const { spec, operation } = call
  const { input, result, destroyed, shape, secret } = answered
  const { data, replayed } = result
  if (result.fromList) {
    await output.note(`The platform does not support ${operation.id}; showing the entry from its list`)
  }
  if (replayed && secret !== undefined) {
    await output.note(
      `The response with the ${secret} was lost; ${spec.ifLost ?? 'delete this and create another'}`,
    )
  }
  const written = operation.method !== 'GET' && shape.paths.includes(operation.identifier ?? 'id')
  const id = written ? result.id : null
  // A secret is shown only now, as part of its record.
  const isSummarised = secret === undefined && (operation.response === null || !hasChosenForm(settings))
  const done = isSummarised ? spec.done : undefined
  if (done) {
    const line = settings.quiet.value ? undefined : await readSuccessLine(context, call, given)
    const thing = operation.method === 'DELETE' ? destroyed : recordForLine(data, input, id)
    await output.done(line ?? done(thing, given, result.unchanged))
    if (!context.io.stdout.isTTY) await printId(context, id)
  } else if (operation.method !== 'GET' && settings.quiet.value) await printId(context, id)
  else if (answered.collect) answered.collect(data)
  else if (operation.response !== null) await printRecord(context, answered)

  const hasRecord = isJsonObject(data) || operation.method === 'GET' || operation.response === null
  const isUnseen = !hasRecord && !done
  if (written && id === null) {
    const [noun] = operation.id.split('.')
    await output.note(`The response has no id; find it with: learnctl ${noun} list`)
  } else if (isUnseen && !settings.quiet.value) {
    const made = operation.method === 'POST' && id !== null ? `; its id is ${escapeHidden(id)}` : ''
    await output.note(`The response does not contain the record${made}`)
  }
  // The record contains the same information.
  const silent = replayed || settings.output.value !== 'table' || settings.quiet.value || !isJsonObject(data)
  const note = silent ? null : await spec.notes?.(data, given)
  if (note) await output.note(note)
  const exit = spec.exits?.(data)
  if (exit) throw new ExitWith(exit)
}

/** Returns the success line that needs further reads; failed reads are ignored, since the write is done. */
async function readSuccessLine(
  { session, io }: Context,
  { spec }: BoundCall,
  given: Given,
): Promise<string | undefined> {
  if (!spec.readDone) return undefined
  try {
    const { createLookup } = await import('../command/lookup.ts')
    return await spec.readDone(createLookup(await session.caller(), io.signal), given)
  } catch {
    return undefined
  }
}

async function printId({ output }: Context, id: string | null): Promise<void> {
  if (id !== null) await output.text(`${escapeHidden(id)}\n`)
}

async function printRecord(
  { io, output, settings }: Context,
  { result: { data, replayed }, rows, shape, secret }: AnsweredCall,
): Promise<void> {
  const isTable = settings.output.value === 'table' && io.stdout.isTTY
  const rowsOf = (isTable && rows?.short) || rows?.from
  await (rowsOf ? output.list([await rowsOf(data)], shape) : output.one(data, shape))
  if (secret !== undefined && !replayed && io.stdout.isTTY) {
    await output.note(`Save the ${inWords(secret)} now; it is shown only once`)
  }
}

function inWords(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** Adds sent fields that the answer omits, and the id in its usual place. */
function recordForLine(data: unknown, { body }: AnyInput, id: string | null): unknown {
  const thing = { ...(isJsonObject(body) && body), ...(isJsonObject(data) && data) }
  return id === null || 'id' in thing ? thing : { ...thing, id }
}
