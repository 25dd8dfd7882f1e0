import * as z from 'zod'
import { answered, field, sent, shown } from './fields.ts'
import { Instant, optional, Percent, text, WebAddress } from './values.ts'

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

/** An id keeps the existing block. */
export const ContentBlockInput = sent(
  {
    id: field(
      z.string().max(100).optional(),
      'Id of the block, assigned by the server; send it back to keep the block',
    ),
    type: field(
      z.enum(blockTypes),
      'Kind of content: markdown, text, html and code have a body, all others a url',
    ),
    title: field(optional(z.string().max(255)), 'Heading of the block'),
    body: field(
      optional(z.string().max(500_000)),
      'The content as text; required for markdown, text, html and code',
    ),
    url: field(optional(WebAddress), 'Where the content is, http or https; required for all other types'),
    language: field(optional(z.string().max(50)), 'Programming language of code, or language of the content'),
    durationSeconds: field(optional(z.int().min(0).max(10_000_000)), 'Length of video or audio, in seconds'),
    altText: field(
      optional(z.string().max(1000)),
      'Text alternative for those who cannot see or hear the content',
    ),
  },
  (object) =>
    object.superRefine((block, context) => {
      const needed = written.includes(block.type) ? 'body' : 'url'
      if (block[needed] !== null) return
      context.addIssue({
        code: 'custom',
        path: [needed],
        params: { code: 'required' },
        message: `is required for a block of type ${block.type}`,
      })
    }),
)

const Answer = z
  .union(
    [z.string().max(10_000), z.number(), z.boolean(), z.array(z.string().max(10_000)).max(100), z.null()],
    'must be a string, a number, a boolean, null or an array of strings',
  )
  .default(null)

const maxChoicesNamed = 10

const questionFields = {
  id: field(
    z.string().max(100).optional(),
    'Id of the question, assigned by the server; send it back to keep the question',
  ),
  type: field(
    z.enum(['single_choice', 'multiple_choice', 'true_false', 'short_answer', 'numeric', 'essay']),
    'Kind of question',
  ),
  prompt: field(text(1, 10_000), 'Text of the question'),
  choices: field(
    z
      .array(
        sent({
          id: field(z.string().min(1).max(100), 'Your id for the choice, such as a'),
          text: field(text(1, 2000), 'Text of the choice'),
        }),
      )
      .max(100)
      .default([]),
    'Answers to choose from',
  ),
  points: field(z.number().min(0).default(1), 'Points for the correct answer'),
  answer: field(
    Answer,
    'Correct answer: text, a number, true or false, or a list of choice ids; never shown to learners',
  ),
}

/** The answer to a question with choices is the id of a choice, or a list of several. */
const QuestionInput = sent(questionFields, (object) =>
  object.superRefine(({ type, choices, answer }, context) => {
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
  }),
)

/** Learners get it without its answer. */
const Question = shown(() => ({
  ...answered(questionFields),
  answer: field(Answer.removeDefault().optional(), questionFields.answer.says),
}))

const assessmentFields = {
  id: field(
    z.string().max(100).optional(),
    'Id of the assessment, assigned by the server; send it back to keep the assessment',
  ),
  type: field(z.enum(['quiz', 'assignment', 'exam', 'survey']), 'Kind of assessment'),
  title: field(text(1, 255), 'Title of the assessment'),
  scoreMaximum: field(z.number().positive().default(100), 'Highest score, above 0'),
  passingScore: field(optional(z.number().min(0)), 'Score needed to pass, up to scoreMaximum; null for none'),
  weight: field(optional(Percent), 'Share of the grade of the course, 0–100; null for none'),
  attemptsAllowed: field(
    optional(z.int().min(1).max(1_000_000)),
    'Maximum number of attempts; null for any number',
  ),
  dueAt: field(optional(Instant), 'Due time; null for none'),
  questions: field(z.array(QuestionInput).max(500).default([]), 'Questions, in order'),
}

/** An id keeps the existing assessment. */
export const AssessmentInput = sent(assessmentFields)

export const Assessment = shown(() => ({
  ...answered(assessmentFields),
  questions: field(z.array(Question).max(500), assessmentFields.questions.says),
}))
