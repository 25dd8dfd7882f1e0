import type { Flag } from '../command/flag.ts'
import { withTimeZone } from '../command/time-flag.ts'
import { outcomes, tamperings } from '../simulator/simulation-choices.ts'

/** The flags of `learnctl webhooks send`. */
export const sendFlags: readonly Flag[] = withTimeZone([
  {
    name: 'user',
    unlisted: ['--learner'],
    kind: 'text',
    placeholder: 'id|ext:id|email',
    summary: 'Learner, as the system names them',
    required: true,
  },
  {
    name: 'course',
    kind: 'text',
    placeholder: 'id|ext:id',
    summary: 'Course, as the system names it',
    required: true,
  },
  { name: 'item', kind: 'text', summary: 'Graded item: its id in the system' },
  { name: 'label', kind: 'text', summary: 'Name of the item' },
  { name: 'score', kind: 'number', summary: 'Score', default: 'another one in each delivery' },
  { name: 'maximum', kind: 'number', summary: 'Maximum score', default: '100' },
  { name: 'percentage', kind: 'number', summary: 'Progress, 0–100', default: 'another one in each delivery' },
  { name: 'cleared', kind: 'switch', summary: 'Take the grade back' },
  { name: 'unpublished', kind: 'switch', summary: 'Send a grade that the learner must not see yet' },
  {
    name: 'account',
    kind: 'text',
    placeholder: 'uuid',
    summary: 'UUID of the Canvas account',
    default: 'that of the integration',
  },
  { name: 'at', kind: 'time', summary: 'Day or time of the last event, or how long ago', default: 'now' },
  {
    name: 'to',
    kind: 'text',
    placeholder: 'url',
    summary: 'Platform to send to',
    default: 'that of the profile',
  },
  { name: 'secret-stdin', kind: 'switch', summary: 'Read the webhook secret from standard input' },
  {
    name: 'signing-key',
    kind: 'text',
    placeholder: 'file',
    summary: 'Private key (JWK) that signs as Canvas does',
  },
  { name: 'standard-headers', kind: 'switch', summary: 'Sign with Standard Webhooks headers instead' },
  { name: 'count', kind: 'number', summary: 'Number of deliveries, a second apart', default: '1' },
  { name: 'duplicate', kind: 'switch', summary: 'Send each delivery twice' },
  { name: 'shuffle', kind: 'switch', summary: 'Send them in random order' },
  {
    name: 'concurrency',
    kind: 'number',
    summary: 'Deliveries sent at the same time, up to 64',
    default: '1',
  },
  {
    name: 'tamper',
    kind: 'text',
    placeholder: 'part',
    summary: 'Change body, id, time or signature after signing',
    choices: tamperings,
    choicesTold: true,
  },
  {
    name: 'expect',
    kind: 'text',
    placeholder: 'outcome',
    summary: 'Outcome that is a success: applied, duplicate, stale, ignored, unmatched or refused',
    choices: outcomes,
    choicesTold: true,
    default: 'applied; refused with --tamper',
  },
  { name: 'print', kind: 'switch', summary: 'Print curl commands without the secret instead of sending' },
])
