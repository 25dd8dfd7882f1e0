import * as z from 'zod'
import { maxPlannedSteps, maxPlannedWrites } from './constants.ts'
import { field, named, sent, shown } from './fields.ts'
import { operationsOf, teachers } from './operation.ts'
import { Time, text } from './values.ts'

/** Nouns of the records that plans write, each after those that it refers to. */
export const plannedNouns = [
  'term',
  'user',
  'course',
  'group',
  'membership',
  'lesson',
  'enrollment',
  'progress',
  'grade',
] as const
export type PlannedNoun = (typeof plannedNouns)[number]

/** What a step does; `keep` names a declared record that stays as it is, `place` orders the lessons of a course. */
const stepActions = ['create', 'update', 'delete', 'keep', 'place'] as const

const PlanInput = named(
  'PlanInput',
  'What makes a plan',
  sent({
    command: field(text(1, 100), 'What makes the plan, such as apply'),
    source: field(
      text(1, 255).nullable().default(null),
      'What it is made from, such as the name of a file; null if there is none',
    ),
  }),
)

const PlannedStep = named(
  'PlannedStep',
  'A step of a plan',
  sent({
    noun: field(z.enum(plannedNouns), 'Type of the record'),
    action: field(
      z.enum(stepActions),
      'create, update or delete; keep names a declared record that stays as it is; place orders the lessons of a course',
    ),
    id: field(z.string().min(1).max(64).nullable().default(null), 'Id of the record; null for a new one'),
    version: field(
      z.int().min(1).nullable().default(null),
      'Version that the plan was made from; null for any',
    ),
    record: field(
      z.record(z.string().max(100), z.unknown()).default({}),
      'What is created, or the fields to change, in the form of the operation that creates the record; a lesson may name its module by the title',
    ),
  }),
)
export type PlannedStep = z.output<typeof PlannedStep>

const PlannedSteps = named(
  'PlannedSteps',
  'Steps of a plan, in the order in which they are carried out',
  sent({ steps: field(z.array(PlannedStep).min(1).max(1000), 'The steps') }),
)

const Plan = named(
  'Plan',
  'Writes that are kept until they are carried out together',
  shown(() => ({
    id: field(z.string(), 'Id of the plan, pln_…'),
    steps: field(z.int().min(0).max(maxPlannedSteps), 'Number of its steps'),
    done: field(z.int().min(0).max(maxPlannedSteps), 'Number of steps that were carried out'),
    change: field(z.string().max(64).nullable(), 'Id of the change that they are; null before the first'),
    expiresAt: field(Time, 'When it is deleted'),
  })),
)
export type Plan = z.output<typeof Plan>

export const PlanRun = named(
  'PlanRun',
  'How to carry out a plan',
  sent({
    isTrial: field(z.boolean().default(false), 'Whether to do nothing but say what would be refused'),
    skipsRefused: field(
      z.boolean().default(false),
      'Whether to leave out steps that are refused; otherwise nothing is done if one is',
    ),
  }),
)

const RefusedStep = named(
  'RefusedStep',
  'A step that was refused',
  shown(() => ({
    step: field(z.int().min(0), 'Number of the step, from 0'),
    code: field(z.string().max(100), 'Error code'),
    message: field(z.string().max(10_000), 'Why, as a sentence'),
    errors: field(
      z
        .array(
          shown(() => ({
            pointer: field(z.string().max(1000), 'JSON Pointer to the field (RFC 6901) in the record'),
            detail: field(z.string().max(10_000), 'What is wrong with the field, continuing its name'),
          })),
        )
        .max(1000),
      'All problems of the record',
    ),
  })),
)
export type RefusedStep = z.output<typeof RefusedStep>

export const PlanOutcome = named(
  'PlanOutcome',
  'What was done of a plan',
  shown(() => ({
    change: field(z.string().max(64).nullable(), 'Id of the change; null if nothing was done'),
    isComplete: field(z.boolean(), 'False if steps are left: send the request again'),
    done: field(
      z.int().min(0).max(maxPlannedSteps),
      'Number of steps that were carried out, refused ones included',
    ),
    refused: field(z.array(RefusedStep).max(maxPlannedWrites), 'Steps of this request that were refused'),
    ids: field(
      z.array(z.string().max(64)).max(maxPlannedWrites),
      'Ids of the records that this request created or changed, in the order of the steps',
    ),
    restored: field(
      z.array(z.int().min(0)).max(maxPlannedWrites),
      'Steps of this request that restored a deleted record instead of creating one',
    ),
    warnings: field(
      z
        .array(
          shown(() => ({
            step: field(z.int().min(0), 'Number of the step, from 0'),
            detail: field(z.string().max(1000), 'What may be wrong, as a sentence'),
          })),
        )
        .max(maxPlannedWrites),
      'Warnings about courses that this request changed, as an update of the course gives them',
    ),
  })),
)
export type PlanOutcome = z.output<typeof PlanOutcome>

/** Plans: writes that are staged on the server and carried out together, each with the rights of its user. */
export const plans = operationsOf('plans', {
  create: {
    at: 'POST /v1/plans',
    summary: 'Create an empty plan',
    roles: teachers,
    body: PlanInput,
    response: Plan,
  },
  addSteps: {
    at: 'PUT /v1/plans/{planId}/steps/{stepNumber}',
    summary: 'Add steps to a plan',
    roles: teachers,
    body: PlannedSteps,
    response: Plan,
  },
  carryOut: {
    at: 'POST /v1/plans/{planId}/carry-out',
    summary: 'Apply the next steps of a plan',
    roles: teachers,
    body: PlanRun,
    response: PlanOutcome,
    status: 200,
    report: true,
  },
  delete: {
    at: 'DELETE /v1/plans/{planId}',
    summary: 'Delete a plan',
    roles: teachers,
    response: null,
  },
})
