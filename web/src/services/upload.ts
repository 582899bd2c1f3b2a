/** Sends files with progress (`XMLHttpRequest`, since `fetch` cannot report it). One request per file: one failure spoils one file. */
import { ApiError, urls } from "$lib/api/client";
import type { ApiErrorBody, UploadResult } from "$lib/api/types";

interface Envelope {
  success?: boolean;
  data?: UploadResult;
  error?: ApiErrorBody;
}

export function uploadFile(file: File, conversation: string | undefined, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<UploadResult> {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    if (conversation) form.append("conversation_id", conversation);
    form.append("file", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", urls.upload());
    request.responseType = "json";
    request.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(new ApiError(0, "network", ""));
    request.onabort = () => reject(new ApiError(0, "aborted", ""));
    request.onload = () => {
      const body = request.response as Envelope | null;
      const refused = body?.data?.rejected?.[0]?.error;
      if (request.status < 300 && body?.data && !refused) resolve(body.data);
      else if (refused) reject(new ApiError(422, refused.code, refused.message, refused.details));
      else reject(new ApiError(request.status, body?.error?.code ?? `http_${request.status}`, body?.error?.message ?? "", body?.error?.details));
    };
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}
