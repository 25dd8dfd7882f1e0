import type { ErrorCode } from '../../contract/errors.ts'
import type { Reply } from '../http/reply.ts'
import { ProblemError } from '../problem-error.ts'

/** OneRoster 1.2 (`imsx_CodeMinorFieldDType`). */
type CodeMinor =
  | 'invalid_filter_field'
  | 'invalid_selection_field'
  | 'invaliddata'
  | 'unauthorisedrequest'
  | 'forbidden'
  | 'server_busy'
  | 'unknownobject'
  | 'internal_server_error'

export function refused(code: ErrorCode, codeMinor: CodeMinor, detail: string): ProblemError {
  return new ProblemError(code, detail, { members: { codeMinor } })
}

/** 404 for a record. */
export function unknownRecord(noun: string, sourcedId: string): ProblemError {
  return refused('not_found', 'unknownobject', `There is no ${noun} ${JSON.stringify(sourcedId)}.`)
}

const byStatus: Readonly<Record<number, CodeMinor>> = {
  401: 'unauthorisedrequest',
  403: 'forbidden',
  404: 'unknownobject',
  405: 'unknownobject',
  429: 'server_busy',
  500: 'internal_server_error',
  503: 'server_busy',
}

export function statusInfoReply(fault: ProblemError): Reply {
  const { status, code, message, headers, members, errors = [] } = fault
  const codeMinor = members['codeMinor'] ?? byStatus[status] ?? 'invaliddata'
  const places = errors.map(({ pointer = '', detail }) => ` ${pointer.replace(/^#\//, '')} ${detail}.`)
  const body = {
    imsx_codeMajor: 'failure',
    imsx_severity: 'error',
    imsx_description: message + places.join(''),
    imsx_CodeMinor: {
      imsx_codeMinorField: [
        { imsx_codeMinorFieldName: 'TargetEndSystem', imsx_codeMinorFieldValue: codeMinor },
      ],
    },
  }
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    code,
  }
}
