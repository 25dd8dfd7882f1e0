import * as z from 'zod'
import { Instant, optional, Percent, text, WebAddress } from './field.ts'

const blockTypes = [
  'markdown',
  'text',
  'html',
  'code',
  'video',
  'audio',
  'image',
  'file',
  'link',
  'embed',
] as const
const written: readonly string[] = ['markdown', 'text', 'html', 'code']

const blockFields = {
  type: z.enum(blockTypes),
  title: optional(z.string().max(255)),
  body: optional(z.string().max(500_000)),
  url: optional(WebAddress),
  language: optional(z.string().max(50)),
  durationSeconds: optional(z.int().min(0).max(10_000_000)),
  altText: optional(z.string().max(1000)),
}

/** A piece of content in a request: an id keeps the block that has it. */
export const ContentBlockInput = z
  .strictObject({ id: z.string().max(100).optional(), ...blockFields })
  .superRefine((block, context) => {
    const needed = written.includes(block.type) ? 'body' : 'url'
    if (block[needed] !== null) return
    context.addIssue({
      code: 'custom',
      path: [needed],
      params: { code: 'required' },
      message: `is required for a block of type ${block.type}`,
    })
  })

const questionFields = {
  type: z.enum(['single_choice', 'multiple_choice', 'true_false', 'short_answer', 'numeric', 'essay']),
  prompt: text(1, 10_000),
  choices: z
    .array(z.strictObject({ id: z.string().min(1).max(100), text: text(1, 2000) }))
    .max(100)
    .default([]),
  points: z.number().min(0).default(1),
}

const Answer = z
  .union(
    [z.string().max(10_000), z.number(), z.boolean(), z.array(z.string().max(10_000)).max(100), z.null()],
    'must be a string, a number, a boolean, null or an array of strings',
  )
  .default(null)

/** Choices that a refusal names. */
const maxChoicesNamed = 10

/** A question in a request. The answer to one with choices is the id of a choice, or a list of several. */
const QuestionInput = z
  .strictObject({ id: z.string().max(100).optional(), ...questionFields, answer: Answer })
  .superRefine(({ type, choices, answer }, context) => {
    const isSingle = type === 'single_choice'
    if (answer === null || !(isSingle || type === 'multiple_choice')) return
    const ids = choices.map(({ id }) => id)
    const given = Array.isArray(answer) && !isSingle ? answer : [answer]
    if (given.every((each) => ids.some((id) => id === each))) return
    const some = ids.slice(0, maxChoicesNamed).join(', ')
    const named = ids.length === 0 ? 'there are none' : `${some}${ids.length > maxChoicesNamed ? ', …' : ''}`
    context.addIssue({
      code: 'custom',
      path: ['answer'],
      params: { code: 'invalid_choice' },
      message: `must be ${isSingle ? 'the id of one of its choices' : 'ids of its choices'}: ${named}`,
    })
  })

/** A question; learners get it without its answer. */
const Question = z.object({ id: z.string(), ...questionFields, answer: Answer.removeDefault().optional() })

const assessmentFields = {
  type: z.enum(['quiz', 'assignment', 'exam', 'survey']),
  title: text(1, 255),
  scoreMaximum: z.number().positive().default(100),
  passingScore: optional(z.number().min(0)),
  weight: optional(Percent),
  attemptsAllowed: optional(z.int().min(1).max(1_000_000)),
  dueAt: optional(Instant),
}

/** A piece of content as it is shown. */
export const ContentBlock = z.object({ id: z.string(), ...blockFields })

/** An assessment in a request: an id keeps the assessment that has it. */
export const AssessmentInput = z.strictObject({
  id: z.string().max(100).optional(),
  ...assessmentFields,
  questions: z.array(QuestionInput).max(500).default([]),
})

/** An assessment as it is shown. */
export const Assessment = z.object({ id: z.string(), ...assessmentFields, questions: z.array(Question) })
