CREATE DATABASE shop CHARACTER SET utf8mb4;
CREATE USER 'reader'@'127.0.0.1' IDENTIFIED BY 's3cret-word';
GRANT SELECT, DELETE, EXECUTE ON shop.* TO 'reader'@'127.0.0.1';
CREATE USER 'boss'@'127.0.0.1' IDENTIFIED BY 's3cret-word';
GRANT ALL PRIVILEGES ON *.* TO 'boss'@'127.0.0.1';
USE shop;
CREATE TABLE sales (id bigint unsigned PRIMARY KEY, region varchar(20), amount decimal(20,4), sold_on date, at datetime(3), ts timestamp NULL, info json, raw varbinary(8), ok boolean, f float, d double, y year, t time, e enum('a','b')) COMMENT '销售明细';
INSERT INTO sales SELECT seq, IF(seq % 2 = 0, '华东', '华北'), seq * 1.5, DATE_ADD('2024-01-01', INTERVAL seq % 28 DAY), '2024-01-02 03:04:05.678', '2024-01-02 03:04:05', '{"k": 1}', x'00ff', 1, 1.1, 2.5, 2024, '10:30:00', 'a' FROM seq_1_to_5000;
INSERT INTO sales (id) VALUES (18446744073709551615);
