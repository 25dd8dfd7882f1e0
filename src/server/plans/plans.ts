import sql, { bulk } from 'sql-template-tag'
import { isJsonObject, jsonText } from '../../codec/json-text.ts'
import { maxPlannedSteps } from '../../contract/constants.ts'
import { type Plan, type PlannedStep, type PlanOutcome, plans } from '../../contract/plans.ts'
import { foldCounts, storeCounts } from '../changes/writing.ts'
import type { Row, Transaction } from '../database/database.ts'
import type { Call } from '../http/handler.ts'
import { bodyOf, routesOf } from '../http/schema-routes.ts'
import { invalid, notFound, ProblemError } from '../problem-error.ts'
import { newPasswordHash } from '../users/own-profile.ts'
import { carryOutSteps } from './carry-out.ts'

/** Characters of the steps of all plans of one user. */
const maxCharacters = 256 * 1024 * 1024
/** Steps that are deleted at once; the others are when the plan has expired. */
const maxDeletedSteps = 10_000
const keptMs = 24 * 60 * 60 * 1000

export const planRoutes = routesOf(plans, {
  async create(call) {
    const { database, now, principal } = call
    const { command, source } = bodyOf(call)
    const id = call.newId('pln')
    await database.run(sql`
      insert into plans (id, user_id, command, source, steps, characters, done, created_at)
      values (${id}, ${principal.userId}, ${command}, ${source}, 0, 0, 0, ${now})`)
    return shown(await requirePlan(call, id))
  },

  async delete(call) {
    await endPlan(call.database, await requirePlan(call, call.params.planId))
    return undefined
  },

  addSteps: {
    // Passwords are hashed before the transaction, and not kept.
    prepare: (call) => Promise.all(bodiesIn(call.rawBody).map((body) => newPasswordHash(call, body))),
    async handle(call) {
      const { database, params } = call
      const { steps } = bodyOf(call)
      const plan = await requirePlan(call, params.planId)
      const first = Number(params.stepNumber)
      if (!Number.isInteger(first) || first < 0 || first > plan.steps) {
        const detail = `must be ${plan.steps}, the number of the next step, or that of an earlier one`
        throw invalid([{ pointer: '#/stepNumber', code: 'out_of_range', detail }])
      }
      if (plan.done > 0) {
        throw new ProblemError('plan_outdated', `Plan ${plan.id} is being carried out; create another one.`)
      }
      const total = Math.max(plan.steps, first + steps.length)
      const hashes = call.prepared as readonly (string | null | undefined)[]
      const rows = steps.map((step, index) => rowOf(plan.id, first + index, step, hashes[index]))
      const characters = plan.characters + jsonText(rows).length
      await requireRoom(call, plan, total, characters)
      await database.run(sql`
        insert into plan_steps (plan_id, step, noun, action, record_id, version, record, secret)
        values ${bulk(rows)}
        on conflict (plan_id, step) do update set
          noun = excluded.noun, action = excluded.action, record_id = excluded.record_id,
          version = excluded.version, record = excluded.record, secret = excluded.secret`)
      await database.run(
        sql`update plans set steps = ${total}, characters = ${characters} where id = ${plan.id}`,
      )
      return shown({ ...plan, steps: total })
    },
  },

  carryOut,
})

export interface PlanRow extends Row {
  readonly id: string
  readonly user_id: string
  readonly command: string
  readonly source: string | null
  readonly change_id: string | null
  readonly steps: number
  readonly characters: number
  readonly done: number
  readonly created_at: string
}

/** Throws 404 for a plan of another user, and for one that has expired. */
async function requirePlan({ database, principal, now }: Call, id: string): Promise<PlanRow> {
  const row = await database.one<PlanRow>(sql`
    select id, user_id, command, source, change_id, steps, characters, done, created_at from plans
    where id = ${id} and user_id = ${principal.userId} and created_at > ${keptSince(now)}`)
  if (!row) throw notFound('plan', id)
  return row
}

/** Throws 409 `limit_reached`. */
async function requireRoom(
  { database, now, principal }: Call,
  { id }: PlanRow,
  steps: number,
  characters: number,
): Promise<void> {
  if (steps > maxPlannedSteps) {
    throw new ProblemError('limit_reached', `A plan has at most ${maxPlannedSteps} steps.`)
  }
  const others = await database.one<Row & { total: number | null }>(sql`
    select sum(characters) as total from plans
    where user_id = ${principal.userId} and created_at > ${keptSince(now)} and id <> ${id}`)
  if (characters + Number(others?.total ?? 0) <= maxCharacters) return
  throw new ProblemError(
    'limit_reached',
    `Your plans have more than ${maxCharacters} characters; delete one.`,
  )
}

/** Deletes a plan; a large one expires at once, and is deleted little by little. */
async function endPlan(database: Transaction, { id, steps }: PlanRow): Promise<void> {
  if (steps <= maxDeletedSteps) await database.run(sql`delete from plans where id = ${id}`)
  else await database.run(sql`update plans set created_at = '', characters = 0 where id = ${id}`)
}

function keptSince(now: string): string {
  return new Date(Date.parse(now) - keptMs).toISOString()
}

function shown({ id, steps, done, change_id: change, created_at: createdAt }: PlanRow): Plan {
  return { id, steps, done, change, expiresAt: new Date(Date.parse(createdAt) + keptMs).toISOString() }
}

function bodiesIn(rawBody: unknown): unknown[] {
  const steps = isJsonObject(rawBody) ? rawBody['steps'] : undefined
  return Array.isArray(steps)
    ? steps.map((step) => (isJsonObject(step) && step['noun'] === 'user' ? step['record'] : undefined))
    : []
}

function rowOf(
  planId: string,
  number: number,
  { noun, action, id, version, record }: PlannedStep,
  hash: string | null | undefined,
) {
  return [
    ...[planId, number, noun, action, id, version],
    jsonText(withoutSecret(record, hash)),
    hash === undefined ? null : jsonText(hash),
  ]
}

const hashedPassword = 'hashed already'

/** Replaces a password: by a valid one where it was hashed, else by an invalid one. */
function withoutSecret(
  record: PlannedStep['record'],
  hash: string | null | undefined,
): PlannedStep['record'] {
  const { password } = record
  if (typeof password !== 'string') return record
  return { ...record, password: hash === undefined ? '' : hashedPassword }
}

async function carryOut(call: Call<typeof plans.carryOut>): Promise<PlanOutcome> {
  const plan = await requirePlan(call, call.params.planId)
  try {
    const outcome = await attempt(call, plan, withoutSavepoints(call.database))
    if (outcome.refused.length === 0) return outcome
  } catch (error) {
    // There a failed statement ends a transaction without savepoints.
    const mayBeRefusal = call.database.dialect.hasManyWriters && !(error instanceof TypeError)
    if (error instanceof ProblemError || !mayBeRefusal) throw error
  }
  return attempt(call, plan, call.database)
}

/**
 * Returns a transaction that takes nothing back by itself: a savepoint for each record would cost more than its write, and is needed
 * only if one is refused.
 */
function withoutSavepoints(database: Transaction): Transaction {
  return { ...database, savepoint: (work) => work() }
}

const takenBack = new Error('taken back')

async function attempt(
  call: Call<typeof plans.carryOut>,
  plan: PlanRow,
  inside: Transaction,
): Promise<PlanOutcome> {
  const { isTrial, skipsRefused } = bodyOf(call)
  const { database, now, principal } = call
  const id = plan.change_id ?? call.newId('chg')
  const change = { id, counts: new Map() }
  let outcome: PlanOutcome | undefined
  try {
    await database.savepoint(async () => {
      if (plan.change_id === null) {
        await database.run(sql`
          insert into changes (id, user_id, command, source, undoes, state, created_at)
          values (${id}, ${principal.userId}, ${plan.command}, ${plan.source}, null, 'running', ${now})`)
      }
      const carried = await carryOutSteps({ ...call, database: inside, change }, plan)
      const { refused, restored, ids, warnings, done } = carried
      const isComplete = done === plan.steps
      const isStopped = refused.length > 0 && (!skipsRefused || inside !== database)
      const lists = { refused: [...refused], restored: [...restored], ids: [...ids], warnings }
      outcome =
        isTrial || isStopped
          ? { change: plan.change_id, isComplete: false, done: plan.done, ...lists }
          : { change: id, isComplete, done, ...lists }
      if (isTrial || isStopped) throw takenBack
      storeCounts(call, change)
      const state = isComplete ? (refused.length > 0 ? 'partial' : 'completed') : 'running'
      await database.run(sql`
        update changes set state = ${state}, ended_at = ${isComplete ? now : null} where id = ${id}`)
      if (isComplete) {
        await foldCounts(database, id)
        await endPlan(database, plan)
      } else await database.run(sql`update plans set done = ${done}, change_id = ${id} where id = ${plan.id}`)
    })
  } catch (error) {
    if (error !== takenBack || !outcome) throw error
  }
  if (!outcome) throw new TypeError('a plan has no outcome')
  return outcome
}
