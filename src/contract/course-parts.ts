import * as z from 'zod'
import { difficulties } from './constants.ts'
import { field, named, sent } from './fields.ts'
import { optional, Percent, text } from './values.ts'

export const Difficulty = named(
  'Difficulty',
  'Difficulty of a course, from easiest to hardest',
  z.enum(difficulties),
)

const MoveOn = z.enum(['Completed', 'Passed', 'CompletedAndPassed', 'CompletedOrPassed', 'NotApplicable'])

export const Module = sent({
  id: field(
    z.string().max(100).optional(),
    'Id of the module, assigned by the server; send it back to keep the module, or to bring back a removed one',
  ),
  title: field(text(1, 255), 'Title of the module'),
  description: field(z.string().max(10_000).default(''), 'What the module is about'),
  order: field(z.int().min(1).max(100_000).optional(), 'Position in the course, from 1 (default as listed)'),
})

const Weight = sent({
  name: field(text(1, 255), 'Kind of assessment, such as Exam'),
  weight: field(Percent, 'Share of the grade, 0–100'),
})

/** When a course is passed and completed, and what counts in its grade. */
export const AssessmentCriteria = sent({
  passingScore: field(Percent.default(70), 'Grade needed to pass the course, 0–100', 'Passing score, 0–100'),
  moveOn: field(
    MoveOn.default('Completed'),
    'What completes an enrolment: completed progress, a passing grade, both, either, or neither (cmi5 §10.2.3)',
    'When an enrolment counts as completed',
  ),
  weights: field(
    z
      .array(Weight)
      .max(100)
      .default([])
      .refine((weights) => weights.reduce((sum, { weight }) => sum + weight, 0) <= 100 + 1e-9, {
        params: { code: 'weights_exceed_100' },
        error: 'must not add up to more than 100',
      }),
    'Share of each kind of assessment in the grade; together at most 100',
    'Weights',
  ),
})

export const AdaptiveDifficulty = sent(
  {
    enabled: field(
      z.boolean().default(false),
      'Whether the difficulty adapts',
      'Adapt the difficulty to the learner',
    ),
    minLevel: field(optional(Difficulty), 'Lowest level; null for no limit', 'Lowest difficulty to adapt to'),
    maxLevel: field(
      optional(Difficulty),
      'Highest level; null for no limit',
      'Highest difficulty to adapt to',
    ),
    raiseAtScore: field(
      Percent.default(85),
      'Score at which the difficulty rises, 0–100',
      'Score at which the difficulty rises',
    ),
    lowerAtScore: field(
      Percent.default(50),
      'Score below which the difficulty falls, 0–100; below raiseAtScore',
      'Score at which the difficulty falls',
    ),
    window: field(z.int().min(1).max(100).default(3), 'Number of recent scores considered'),
  },
  (object) =>
    object.superRefine(({ minLevel, maxLevel, raiseAtScore, lowerAtScore }, context) => {
      if (minLevel && maxLevel && difficulties.indexOf(minLevel) > difficulties.indexOf(maxLevel)) {
        context.addIssue({
          code: 'custom',
          path: ['minLevel'],
          params: { code: 'out_of_order' },
          message: `must not be above maxLevel (${maxLevel})`,
        })
      }
      if (lowerAtScore >= raiseAtScore) {
        context.addIssue({
          code: 'custom',
          path: ['lowerAtScore'],
          params: { code: 'out_of_order' },
          message: `must be below raiseAtScore (${raiseAtScore})`,
        })
      }
    }),
)

export const ProgressTracking = sent({
  enabled: field(z.boolean().default(true), 'Whether progress can be recorded', 'Track progress'),
  completionThreshold: field(
    z.number().min(1).max(100).default(100),
    'Completion percentage at which progress counts as completed',
    'Percentage at which the course counts as completed',
  ),
})
