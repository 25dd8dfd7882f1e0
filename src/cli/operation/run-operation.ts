import type { Caller } from '../../client/caller.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import { confirm } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import type { BoundCall } from './bound-call.ts'
import { showRequests } from './dry-run.ts'
import { createLookup } from './lookup.ts'
import { idsFlag, ifNotExistsFlag, upsertFlag } from './operation-flags.ts'
import { assertSecretShown, prepareCall, sendCall } from './prepare-call.ts'
import { printAnswer } from './print-answer.ts'
import { withSources } from './refused-call.ts'

/** Makes the call that a command stands for: flags become query and body, the answer goes to the output. */
export async function runOperation(context: Context, given: Given, call: BoundCall): Promise<void> {
  try {
    if (isSeveral(given, call)) await (await import('./run-several.ts')).runSeveral(context, given, call)
    else await callAndPrint(context, given, call)
  } catch (error) {
    throw withSources(error, call, given)
  }
}

/** True where a command is given many things, or as many as another one prints. */
function isSeveral({ flags, rest, arguments: named }: Given, { spec, positions }: BoundCall): boolean {
  if (spec.several === undefined) return false
  // An answer to a question is one thing, whatever spaces are in it.
  const typed = rest[0] === named[positions[0]?.[1].name ?? '']
  return flags[idsFlag.name] !== undefined || (typed && rest.length > 1)
}

async function callAndPrint(context: Context, given: Given, call: BoundCall): Promise<void> {
  const { session, settings, io } = context
  const { spec, query } = call
  const operation: Operation = call.operation
  const caller: Caller = await session.caller()
  const prepared = await prepareCall(context, given, call)
  const { shape, secret } = prepared
  if ([ifNotExistsFlag, upsertFlag].some(({ name }) => given.flags[name] === true)) {
    return (await import('./existing.ts')).createOrFind(context, given, call, caller, prepared)
  }
  if (secret !== undefined) assertSecretShown(context, secret, shape)
  if (operation.list) {
    const flagOf = (parameter: string) =>
      `--${query.find(({ place }) => place === parameter)?.flag.name ?? parameter}`
    return (await import('./list.ts')).printList(context, caller, operation, prepared.input, shape, flagOf)
  }
  const [position] = call.positions
  const found = position && spec.finds ? await (await spec.finds({ context, caller }))(given) : undefined
  const input =
    position && found !== undefined
      ? { ...prepared.input, params: { ...prepared.input.params, [position[0]]: found } }
      : prepared.input
  if (settings.dryRun.value) return showRequests(context, [caller.request(operation, input)])
  const { destroys } = spec
  if (destroys) {
    const meant =
      position && found !== undefined
        ? { ...given, arguments: { ...given.arguments, [position[1].name]: found } }
        : given
    await confirm(context, destroys.action(given), () =>
      destroys.question(createLookup(caller, io.signal), meant),
    )
  }
  const { sent, result } = await sendCall(context, caller, operation, input)
  await printAnswer(context, given, call, { ...prepared, input, sent, result })
}
