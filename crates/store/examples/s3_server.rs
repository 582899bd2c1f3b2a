//! A small S3-speaking server on a folder, for trying several servers on one machine (`scripts/cluster`) and for nothing
//! else: one key, no encryption, no versions. `s3_server FOLDER ADDRESS BUCKET KEY SECRET`.
#![allow(clippy::print_stdout, reason = "it says where it listens")]

use std::path::Path;

use hyper_util::rt::{TokioExecutor, TokioIo};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [folder, address, bucket, key, secret] = given.as_slice() else {
        return Err("usage: s3_server FOLDER ADDRESS BUCKET KEY SECRET".into());
    };
    std::fs::create_dir_all(Path::new(folder).join(bucket))?;
    let files = s3s_fs::FileSystem::new(folder).map_err(|error| format!("{folder}: {error:?}"))?;
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single(key, secret.as_str()));
    let service = builder.build();
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("S3 at http://{}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        let service = service.clone();
        tokio::spawn(async move {
            let http = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
