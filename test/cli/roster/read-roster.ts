import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { plainMapping } from '../../../src/cli/records/sources/mapping.ts'
import { type OpenRosterOptions, readRoster as readRosterFiles } from '../../../src/cli/roster/open-roster.ts'
import type { RosterPart, RosterProblem } from '../../../src/cli/roster/roster.ts'
import { freshDirectory } from '../../helpers/fresh-directory.ts'

/** Files of a roster by name. */
export type RosterFiles = Readonly<Record<string, string | Uint8Array>>

/** Cells of a row by column; the others are empty. */
export type Cells = Readonly<Record<string, string>>

/** Writes files to a folder, which the test removes at its end, and returns its path. */
export function writeRoster(files: RosterFiles): string {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  return path
}

/** Reads a file or folder as a roster. */
export function openAt(path: string, options: Partial<OpenRosterOptions> = {}) {
  const io = { cwd: path, stdin: process.stdin, stderr: process.stderr, signal: new AbortController().signal }
  return readRosterFiles(io, path, { format: null, emailDomain: null, mapping: plainMapping, ...options })
}

/** Reads files as a roster; problems and warnings are texts, `users.csv:2 email: is required`. */
export async function readRoster(files: RosterFiles, options: Partial<OpenRosterOptions> = {}) {
  const path = writeRoster(files)
  const roster = await openAt(path, options)
  const { findings } = roster
  const all = (part: RosterPart, removed: boolean) =>
    (roster.records.get(part) ?? []).filter(({ isRemoved = false }) => isRemoved === removed)
  const recordsOf = (part: RosterPart) => all(part, false).map(({ record }) => record)
  const removedOf = (part: RosterPart) => all(part, true).map(({ record }) => record)
  return {
    ...{ source: roster, roster, findings, recordsOf, removedOf },
    problems: findings.problems().map(textOf),
    warnings: findings.warnings.map(textOf),
    notes: findings.notes().map((note) => note.replaceAll(path, 'roster')),
  }
}

function textOf({ file, line, column, message, value }: RosterProblem) {
  return `${file}:${line} ${column}: ${message}${value === undefined ? '' : ` (${value})`}`
}

/** Writes rows as CSV under a header. */
export function csv(header: string, rows: readonly Cells[]): string {
  const cell = (text = '') => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const lines = rows.map((row) => header.split(',').map((name) => cell(row[name])))
  return [header, ...lines.map((cells) => cells.join(','))].map((line) => `${line}\r\n`).join('')
}

/**
 * Headers as published: the CSV bindings of OneRoster 1.1 and 1.2 (1EdTech), complete and in order, of the files that
 * exports write, besides the manifest. Version 1.1 has no weights of categories.
 */
export const published = {
  '1.1': {
    orgs: 'sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId',
    academicSessions:
      'sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear',
    courses:
      'sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes',
    classes:
      'sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods',
    users:
      'sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password',
    enrollments:
      'sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate',
    categories: 'sourcedId,status,dateLastModified,title',
    lineItems:
      'sourcedId,status,dateLastModified,title,description,assignDate,dueDate,classSourcedId,categorySourcedId,gradingPeriodSourcedId,resultValueMin,resultValueMax',
    results:
      'sourcedId,status,dateLastModified,lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment',
  },
  '1.2': {
    orgs: 'sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId',
    academicSessions:
      'sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear',
    courses:
      'sourcedId,status,dateLastModified,schoolYearSourcedId,title,courseCode,grades,orgSourcedId,subjects,subjectCodes',
    classes:
      'sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods',
    users:
      'sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns',
    roles:
      'sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId',
    enrollments:
      'sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate',
    categories: 'sourcedId,status,dateLastModified,title,weight',
    lineItems:
      'sourcedId,status,dateLastModified,title,description,assignDate,dueDate,classSourcedId,categorySourcedId,academicSessionSourcedId,resultValueMin,resultValueMax,schoolSourcedId',
    results:
      'sourcedId,status,dateLastModified,lineItemSourcedId,studentSourcedId,scoreStatus,score,scoreDate,comment,textScore,classSourcedId,inProgress,incomplete,late,missing',
  },
} as const
