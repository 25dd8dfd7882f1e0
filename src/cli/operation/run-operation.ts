import type { AnyInput } from '../../client/call.ts'
import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { createLookup } from '../command/lookup.ts'
import { capitalise } from '../terminal/format-text.ts'
import { showRequests } from './dry-run.ts'
import { idsFlag, ifNotExistsFlag, upsertFlag } from './operation-flags.ts'
import type { BoundCall } from './operation-spec.ts'
import { assertSecretShown, prepareCall } from './prepare-call.ts'
import { printAnswer } from './print-answer.ts'

export async function runOperation(context: Context, given: Given, call: BoundCall): Promise<void> {
  try {
    if (isSeveral(given, call)) await (await import('./run-several.ts')).runSeveral(context, given, call)
    else await callUntilAccepted(context, given, call)
  } catch (error) {
    const { withNearest } = await import('./refused-call.ts')
    throw await withNearest(context, error, call, given)
  }
}

function isSeveral({ flags, rest, arguments: named }: Given, { spec, positions }: BoundCall): boolean {
  if (spec.several === undefined) return false
  // An answer to a prompt is one value, even with spaces.
  const typed = rest[0] === named[positions.at(-1)?.[1].name ?? '']
  return flags[idsFlag.name] !== undefined || (typed && rest.length > 1)
}

/** Makes the call; if the platform refuses an answer to a prompt, explains why and prompts again. */
async function callUntilAccepted(context: Context, given: Given, bound: BoundCall): Promise<void> {
  const answers = new Map<string, unknown>()
  const call = { ...bound, answers }
  for (;;) {
    try {
      return await callAndPrint(context, given, call)
    } catch (error) {
      const refused = error instanceof ApiError ? refusedAnswers(error, answers) : []
      if (refused.length === 0) throw error
      for (const place of refused) answers.delete(place)
      const [{ failureOf }, { withSources }] = await Promise.all([
        import('../failures.ts'),
        import('./refused-call.ts'),
      ])
      const { message, why } = failureOf(withSources(error, call, given), context.session.target())
      await context.output.note([message, ...why].join('; '))
    }
  }
}

/**
 * Returns the fields of prompted answers that a refusal concerns: those it points at, else those whose value it
 * names. A conflict without either may concern any of them.
 */
function refusedAnswers(
  { status, faults, message }: ApiError,
  answers: ReadonlyMap<string, unknown>,
): string[] {
  if (![400, 404, 409, 422].includes(status)) return []
  const places = [...answers.keys()]
  const pointers = faults.flatMap(({ pointer }) => (pointer === undefined ? [] : [pointer.replace(/^#/, '')]))
  if (pointers.length > 0)
    return places.filter((place) => pointers.includes(`/${place.replaceAll('.', '/')}`))
  const named = places.filter((place) => message.includes(String(answers.get(place))))
  return named.length === 0 && status === 409 ? places : named
}

async function callAndPrint(context: Context, given: Given, call: BoundCall): Promise<void> {
  const { session, settings, io } = context
  const { spec } = call
  const operation: Operation = call.operation
  const caller: Caller = await session.caller()
  const prepared = await prepareCall(context, given, call)
  const { shape, secret } = prepared
  if ([ifNotExistsFlag, upsertFlag].some(({ name }) => given.flags[name] === true)) {
    await (await import('./create-or-find.ts')).createOrFind(context, given, call, caller, prepared)
    return
  }
  if (secret !== undefined) assertSecretShown(context, secret, shape)
  const [position] = call.positions
  const found = position && spec.finds ? await (await spec.finds({ context, caller }))(given) : undefined
  const input =
    position && found !== undefined
      ? { ...prepared.input, params: { ...prepared.input.params, [position[0]]: found } }
      : prepared.input
  if (operation.list) {
    const { printList } = await import('./print-list.ts')
    return printList(context, caller, operation, input, shape, given.flags)
  }
  if (settings.dryRun.value) return showRequests(context, [caller.request(operation, input)])
  const { destroys } = spec
  let destroyed: unknown
  if (destroys) {
    const target =
      position && found !== undefined
        ? { ...given, arguments: { ...given.arguments, [position[1].name]: found } }
        : given
    const look = createLookup(caller, io.signal)
    destroyed = await destroys.read(look, target).catch((error: unknown) => {
      // With --yes, try it even if the platform does not show the record.
      if (settings.yes.value && error instanceof ApiError) return undefined
      throw error
    })
    await confirm(context, destroys.action(given), () => destroys.question(look, target, destroyed))
  }
  const send = (sent: AnyInput) => caller.write(operation, sent)
  const result = await send(input).catch(async (error: unknown) => {
    return send(await confirmed(context, given, call, input, error))
  })
  await printAnswer(context, given, call, { ...prepared, input, result, destroyed })
}

/** Throws the refusal if it cannot be confirmed. */
async function confirmed(
  context: Context,
  given: Given,
  { spec: { confirms } }: BoundCall,
  input: AnyInput,
  refusal: unknown,
): Promise<AnyInput> {
  const matchesReference =
    confirms && refusal instanceof ApiError && refusal.faults.some(({ code }) => code === confirms.code)
  const { settings, prompts } = context
  if (!matchesReference || (prompts.refusal !== null && !settings.yes.value)) throw refusal
  const { consequence, field } = confirms
  const action = confirms.action(given)
  const text = capitalise(action)
  await confirm(context, action, async () => ({ text, consequence }))
  return { ...input, body: { ...(isJsonObject(input.body) && input.body), [field]: true } }
}
