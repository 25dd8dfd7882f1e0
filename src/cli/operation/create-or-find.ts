import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { bareResult } from '../../client/reply.ts'
import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { type Dataset, type DatasetName, keyOf } from '../dataset/dataset.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'
import { capitalise } from '../terminal/format-text.ts'
import { showRequests } from './dry-run.ts'
import { ifNotExistsFlag, upsertFlag } from './operation-flags.ts'
import type { BoundCall } from './operation-spec.ts'
import { assertSecretShown, type PreparedCall } from './prepare-call.ts'
import { printAnswer } from './print-answer.ts'
import { updatedLine } from './thing-name.ts'

interface Found {
  readonly thing: JsonObject
  /** Update to send; null to leave the record unchanged. */
  readonly update: { readonly operation: Operation; readonly input: PreparedCall['input'] } | null
}

/**
 * Creates a thing unless one with its key exists: that is left unchanged (`--if-not-exists`) or updated (`--upsert`).
 * A thing that another process creates at the same time is found, too. Returns which it was. Throws a UsageError if the body has no key,
 * and a CommandError if the existing thing is deleted.
 */
export async function createOrFind(
  context: Context,
  given: Given,
  call: BoundCall,
  caller: Caller,
  prepared: PreparedCall,
): Promise<'created' | 'existing'> {
  const { settings, output } = context
  const { exists } = call.spec
  const upserts = given.flags[upsertFlag.name] === true
  if (!exists) throw new TypeError(`${call.operation.id} has no key`)
  if (upserts && given.flags[ifNotExistsFlag.name] === true) {
    throw new UsageError(`--${ifNotExistsFlag.name} and --${upsertFlag.name} cannot be used together`)
  }
  const body = isJsonObject(prepared.input.body) ? prepared.input.body : {}
  const search = exists.dataset
    ? await datasetSearch(context, call, caller, body, { name: exists.dataset, upserts })
    : { find: async () => (await exists.find?.(context, caller, body)) ?? null, change: null }

  async function look(): Promise<Found | null> {
    const thing = await search.find()
    if (thing === null) return null
    if (thing['status'] === 'deleted') {
      if (call.operation.id === 'users.create') throw deletedError(thing, exists?.name(thing, given) ?? '')
      // Creating a deleted enrolment again restores it.
      return null
    }
    return { thing, update: upserts && search.change ? await search.change(thing) : null }
  }

  const found = await look()
  if (found) return keepOrUpdate(found)
  if (prepared.secret !== undefined) assertSecretShown(context, prepared.secret, prepared.shape)
  const { input } = prepared
  if (settings.dryRun.value) {
    await showRequests(context, [caller.request<Operation>(call.operation, input)])
    return 'created'
  }
  try {
    const result = await caller.write<Operation>(call.operation, input)
    await printAnswer(context, given, call, { ...prepared, result })
    return 'created'
  } catch (error) {
    const raced = error instanceof ApiError && error.status === 409 ? await look() : null
    if (raced === null) throw error
    return keepOrUpdate(raced)
  }

  async function keepOrUpdate({ thing, update }: Found): Promise<'existing'> {
    if (settings.dryRun.value) {
      if (update) await showRequests(context, [caller.request(update.operation, update.input)])
      else await output.note(`Nothing would be sent: ${exists?.name(thing, given)} already exists`)
      return 'existing'
    }
    const words = (data: unknown) => {
      const name = exists?.name(data, given) ?? ''
      if (update === null) return `${capitalise(name)} already exists`
      const same = isJsonObject(data) && data['version'] !== undefined && data['version'] === thing['version']
      return updatedLine('Updated', name, data, same)
    }
    const spec = { ...call.spec, done: words }
    const input = update?.input ?? { params: {} }
    const result = update
      ? await caller.write(update.operation, update.input)
      : { ...bareResult, data: thing, id: String(thing[call.operation.identifier ?? 'id'] ?? '') || null }
    const { data } = result
    // Some operations answer with an object that contains the record.
    const record = isJsonObject(data) && isJsonObject(data['course']) ? data['course'] : data
    await printAnswer(
      context,
      given,
      { ...call, spec },
      {
        ...prepared,
        secret: undefined,
        input,
        result: { ...result, data: record },
      },
    )
    return 'existing'
  }
}

async function datasetSearch(
  context: Context,
  call: BoundCall,
  caller: Caller,
  body: JsonObject,
  { name, upserts }: { readonly name: DatasetName; readonly upserts: boolean },
) {
  const [{ loadDataset }, { findByKeys, findShown }, { createNames }] = await Promise.all([
    import('../dataset/load-dataset.ts'),
    import('../dataset/find.ts'),
    import('../dataset/names.ts'),
  ])
  const { signal } = context.io
  const dataset: Dataset = await loadDataset(name)
  if (keyOf(dataset, body) === null) {
    const flagOf = (field: string) =>
      `--${call.fields.find(({ place }) => place === field)?.flag.name ?? field}`
    const keys = dataset.keys.map((fields) => fields.map(flagOf).join(' and '))
    throw new UsageError(
      `--${upserts ? upsertFlag.name : ifNotExistsFlag.name} requires ${keys.join(' or ')}`,
      {
        why: [`A ${dataset.noun} is recognised by it`],
      },
    )
  }
  const { update, params } = dataset.operations

  async function find(): Promise<JsonObject | null> {
    const { shown } = await findByKeys(dataset, body, (_, fields) => {
      const key = Object.fromEntries(fields.map((field) => [field, body[field]]))
      return findShown(caller, dataset, key, signal, fields)
    })
    return shown
  }

  return {
    find,
    change: async (thing: JsonObject) => {
      if (!update) throw new TypeError(`${name} cannot be changed`)
      const changes: unknown = await dataset.toBody(body, thing, createNames(caller, signal))
      return { operation: update, input: { params: params(thing), body: changes, signal } }
    },
  }
}

function deletedError(thing: JsonObject, name: string): CommandError {
  return new CommandError('duplicate', 'conflict', `Cannot create ${name}: it was deleted`, {
    hint: `To restore it: learnctl users restore ${shellWord(String(thing['id']))}`,
  })
}
